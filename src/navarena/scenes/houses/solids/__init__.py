"""Unit solids, models made of them, and the mesh builder."""
