"""Commands that make, read and show scenes, and what corruptions do to their images."""
