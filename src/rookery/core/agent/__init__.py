"""Supervision of the agent's process, and what it sends."""
