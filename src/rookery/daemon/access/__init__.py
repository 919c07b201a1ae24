"""Who may do what through the daemon."""
