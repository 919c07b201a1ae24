"""Worktrees and races, over HTTP."""
