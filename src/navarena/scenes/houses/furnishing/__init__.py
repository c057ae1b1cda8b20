"""Which furniture stands where, so that every room stays reachable."""
