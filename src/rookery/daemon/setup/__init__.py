"""What is set up (settings, models, MCP servers, agents, rules), for the API and the page."""
