"""Shared code of commands that run a turn."""
