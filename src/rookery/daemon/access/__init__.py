"""Access control of the daemon: who may do what through it."""
