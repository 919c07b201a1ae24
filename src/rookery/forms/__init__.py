"""One definition of each form (settings, models, MCP servers, agents, rules), drawn by the terminal
interface and by the web page."""
