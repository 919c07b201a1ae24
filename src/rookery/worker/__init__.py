"""The worker: one detached process that is a session while it is awake, and its warden."""
