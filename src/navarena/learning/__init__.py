"""Learning: rollouts, losses, networks and training of policies, with PyTorch of the extra `learn`."""
