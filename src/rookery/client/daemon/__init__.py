"""The daemon, as its clients see it."""
