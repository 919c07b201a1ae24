"""Waking sleeping sessions, and making room for one more worker."""
