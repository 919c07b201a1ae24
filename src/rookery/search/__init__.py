"""Full-text search over all sessions of a home, with a daemon or without."""
