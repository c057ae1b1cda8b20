"""Families of objects that stand in generated houses."""
