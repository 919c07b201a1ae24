"""Conversations that run elsewhere: on an agent server, in OpenHands Cloud, or in a container."""
