"""Users of a challenge server: accounts, sessions, tokens, teams, and the audit log."""
