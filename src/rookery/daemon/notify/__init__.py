"""Notifications: which news are worth one, and the channels they go out by."""
