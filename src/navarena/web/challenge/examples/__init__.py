"""Challenge files to begin with, one for each benchmark."""
