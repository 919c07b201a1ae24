"""What a conversation leaves on disk."""
