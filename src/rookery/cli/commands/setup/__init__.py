"""Commands under "Set up"."""
