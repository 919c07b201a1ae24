"""A conversation's MCP servers: connections, logins and tool names."""
