"""The web pages of a challenge server."""
