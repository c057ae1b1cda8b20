"""Commands that make runs, compare and explain them."""
