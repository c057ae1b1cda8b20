"""Commands that train policies and networks, score them and keep their checkpoints."""
