"""What deleting a session means for the agents that had it."""
