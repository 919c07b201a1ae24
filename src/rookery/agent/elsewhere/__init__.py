"""Conversations that run on an agent server, or in OpenHands Cloud."""
