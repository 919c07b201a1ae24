"""A session's directory: its files, and what changed in it."""
