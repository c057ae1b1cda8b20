"""Pages on loopback to play episodes, to watch runs, and to walk through scenes."""
