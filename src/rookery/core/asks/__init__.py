"""The agent's questions and permission requests, and their answers."""
