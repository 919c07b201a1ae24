"""What a session asks of the editor that has it open: unsaved buffers, MCP servers."""
