"""Services of the editor that has a session open: unsaved buffers, MCP servers."""
