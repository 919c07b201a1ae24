"""WebSockets (RFC 6455), client side, with the standard library only."""
