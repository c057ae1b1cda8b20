"""A joint space of texts and images: its pairs, training, encoder, and how well it retrieves."""
