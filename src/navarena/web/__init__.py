"""What people reach with a browser."""
