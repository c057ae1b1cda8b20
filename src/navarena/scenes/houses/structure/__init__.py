"""Walls, floors, ceilings, doors and windows as triangles, and walkable floors."""
