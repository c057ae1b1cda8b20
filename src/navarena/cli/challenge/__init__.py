"""Commands that host challenges and take part in them."""
