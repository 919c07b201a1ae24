"""Snapshots of a session's directory: a git object store of our own, apart from the user's."""
