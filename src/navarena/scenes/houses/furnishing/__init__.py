"""Placement of furniture, with every room reachable."""
