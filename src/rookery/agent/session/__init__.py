"""A session of the agent: its turns, its asks, its updates."""
