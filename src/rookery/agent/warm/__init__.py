"""The warm process: loads the SDK once, and forks an agent from it for each session."""
