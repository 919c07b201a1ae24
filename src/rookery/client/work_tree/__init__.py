"""A session's working directory: its files, and what changed in them."""
