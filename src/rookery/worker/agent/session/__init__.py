"""Session details passed to the agent: its recap, its title, whether it is archived."""
