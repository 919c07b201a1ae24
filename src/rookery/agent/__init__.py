"""Rookery's own agent, on the OpenHands SDK, and what it is set up with."""
