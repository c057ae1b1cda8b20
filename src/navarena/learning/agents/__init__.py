"""Agents of checkpoints: as they are, adapting, in chains of skills, and with a stop of their own."""
