"""Logging in to agents, in a process of the agent's own, and remembering the status for lists."""
