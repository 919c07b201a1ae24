"""The worker: one detached process that runs a session while it is awake, and its warden."""
