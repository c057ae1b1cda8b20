"""Floor plans from JSON files."""
