"""Talking to the daemon, as its client."""
