"""The tools that a conversation has, imported when they are chosen."""
