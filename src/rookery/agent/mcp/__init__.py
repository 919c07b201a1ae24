"""A conversation's MCP servers: connections and names of tools."""
