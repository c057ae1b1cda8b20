"""Published weights: files of the reference code become checkpoints."""
