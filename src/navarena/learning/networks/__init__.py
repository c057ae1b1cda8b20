"""Networks of policies: encoders of observations, memories and heads of actions."""
