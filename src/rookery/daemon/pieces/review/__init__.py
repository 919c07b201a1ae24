"""Reviewing a session: its changes, its turns, and search results."""
