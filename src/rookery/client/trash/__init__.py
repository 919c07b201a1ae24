"""Removed sessions, which can be restored for two weeks."""
