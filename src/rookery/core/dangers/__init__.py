"""Irreversible actions, program by program. Most of it is tables: a line names the words and
options that make a command dangerous, and describes in a few words what it does."""
