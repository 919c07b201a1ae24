"""Supervising the agent's process, and turning what it sends into updates."""
