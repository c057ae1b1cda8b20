"""Walls, floors, ceilings, doors and windows as triangles, and the floors one can stand on."""
