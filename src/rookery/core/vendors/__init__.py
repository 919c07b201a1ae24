"""What is particular about each vendor's agent."""
