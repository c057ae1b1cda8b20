"""Results in the layouts of the reference code, read and written."""
