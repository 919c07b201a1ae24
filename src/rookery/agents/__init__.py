"""The agents that can be run by name, and where their programs are."""
