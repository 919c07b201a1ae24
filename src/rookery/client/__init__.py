"""Access to a session from outside its worker: find or start the worker, listen, and send
commands."""
