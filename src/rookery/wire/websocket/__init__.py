"""A WebSocket client (RFC 6455), with the standard library only."""
