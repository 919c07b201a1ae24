"""Screens for reviewing what happened in a session."""
