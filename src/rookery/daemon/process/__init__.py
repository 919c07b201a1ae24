"""The daemon as a process: starting, listening, announcing itself, stopping."""
