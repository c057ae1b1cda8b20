"""Checkpoints: their files, what policies and fitted networks keep in them, choice and small copies."""
