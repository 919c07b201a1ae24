"""The worker's agent: its process, its requests, its terminals and files."""
