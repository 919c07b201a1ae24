"""Notifications: what is worth one, and the ways it goes out."""
