"""An agent session: its turns, its asks, and its updates to the client."""
