"""Finishes, their texture tiles, and baked light."""
