"""Conversations that run elsewhere: on an agent server, or in a sandbox of OpenHands Cloud."""
