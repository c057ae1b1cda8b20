"""Cross-view completion, which pre-trains the binocular network: its pairs of views, training and scores."""
