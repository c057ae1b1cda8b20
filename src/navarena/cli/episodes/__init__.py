"""Commands that make, count and check episodes, tours, goals and the features of views."""
