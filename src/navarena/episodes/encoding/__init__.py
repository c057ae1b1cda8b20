"""Goal encoders: their interface, by name, and kept on disk; what they are made of is in agents.encoders."""
