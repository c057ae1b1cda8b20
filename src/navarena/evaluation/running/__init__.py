"""Run agents over episodes, in one process or many, and replay what they did."""
