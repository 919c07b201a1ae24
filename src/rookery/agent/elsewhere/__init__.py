"""Conversations that run elsewhere: on an agent server, or in OpenHands Cloud."""
