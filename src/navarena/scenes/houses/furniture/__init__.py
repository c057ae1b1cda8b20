"""Families of things that stand in generated houses."""
