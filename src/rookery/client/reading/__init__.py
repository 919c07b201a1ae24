"""Parts of a session read from its log."""
