"""Depth from colours: a network that predicts it, and agents that see by it."""
