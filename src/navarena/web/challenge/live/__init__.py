"""Live submissions: the server steps the world, and the agent acts on the participant's machine."""
