"""Queries on navmeshes: snapping, steps, shortest paths and distances."""
