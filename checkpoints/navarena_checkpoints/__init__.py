"""Trained checkpoints of navarena: a folder for each, and nothing else."""
