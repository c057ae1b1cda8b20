"""Polygons in the plan: outlines of floors, their simplification and their triangulation."""
