"""Occupancy anticipation: a network that continues maps beyond what was seen, and its agent."""
