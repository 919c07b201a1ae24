"""Processes of the system: who descends from whom, and how a whole tree is ended."""
