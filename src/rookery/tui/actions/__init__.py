"""What keys, windows and slash commands do."""
