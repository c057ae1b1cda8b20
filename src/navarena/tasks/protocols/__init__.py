"""Rules of the protocols in houses, one module each, and shared parts."""
