"""What the agent has of a session: the recap that it is given, its title, its archive."""
