"""Losses beside the method's own, over rollouts, and the proxy tasks of policies on graphs."""
