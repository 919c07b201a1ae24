"""Folding events into the view of a session."""
