"""Families of objects in generated houses."""
