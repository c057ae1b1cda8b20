"""Trainings: their set-up, updates, log and evaluations, from rollouts, demonstrations and examples."""
