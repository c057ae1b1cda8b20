"""A challenge server whose leaderboards verify themselves."""
