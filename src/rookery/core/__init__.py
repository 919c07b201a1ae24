"""What a session is, as functions: no clock, no file, no task is touched in this package."""
