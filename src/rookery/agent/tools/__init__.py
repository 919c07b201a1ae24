"""Which tools a conversation has, loaded when they are chosen."""
