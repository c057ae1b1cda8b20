"""A challenge server: it executes every submission itself and stores its own numbers."""
