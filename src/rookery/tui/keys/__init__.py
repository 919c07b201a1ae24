"""Which keys there are, and where each works."""
