"""Demonstrations: data sets of what an agent saw and did, written from the journal of a run."""
