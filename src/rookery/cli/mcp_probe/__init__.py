"""What `rookery mcp test` does: really connects to an MCP server, and asks for its tools."""
