"""Running agents over episodes, in one process or many, and replaying their actions."""
