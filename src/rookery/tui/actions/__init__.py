"""The handlers behind keys, windows and slash commands."""
