"""Logging in to agents: done in a process of the agent's own, and remembered for lists."""
