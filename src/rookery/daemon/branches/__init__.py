"""HTTP routes for worktrees and races."""
