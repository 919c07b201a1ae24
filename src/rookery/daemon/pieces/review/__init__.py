"""Looking back at a session: its changes, its turns, and what was found in it."""
