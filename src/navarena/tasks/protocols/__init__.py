"""Rules of the protocols in houses: one module for each, and what they share."""
