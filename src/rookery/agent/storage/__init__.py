"""A conversation's files on disk."""
