"""The agent's process: arguments, environment, stderr, shutdown."""
