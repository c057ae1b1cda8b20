"""Voxel columns over a mesh, and the floors in them that a body can stand on."""
