"""The MCP servers of a conversation: how they are reached, named and called."""
