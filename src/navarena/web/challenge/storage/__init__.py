"""The database of a challenge server."""
