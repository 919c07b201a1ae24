"""What an agent wants to know before it goes on, and the answers."""
