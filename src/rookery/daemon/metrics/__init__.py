"""Metrics of the daemon, for whoever operates it."""
