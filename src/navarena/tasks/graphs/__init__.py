"""Tasks on navigation graphs."""
