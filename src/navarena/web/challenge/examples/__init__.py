"""Example challenge files, one for each benchmark."""
