"""Definitions of all forms (settings, models, MCP servers, agents, rules), each rendered both by
the terminal interface and by the web page."""
