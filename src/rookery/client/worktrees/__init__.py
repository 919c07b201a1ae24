"""Git worktrees of sessions: made in Rookery's home, compared, merged, dropped, cleaned up."""
