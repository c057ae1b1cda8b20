"""Who uses a challenge server: accounts, sessions, tokens, teams, and the log of what they changed."""
