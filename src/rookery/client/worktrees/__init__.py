"""Git worktrees of sessions: created in Rookery's home, compared, merged, dropped, cleaned up."""
