"""The way to a session from outside its worker: find or start it, listen, and send commands."""
