"""The asks of a running session, and the answers that need no user."""
