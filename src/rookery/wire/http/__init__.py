"""ACP's Streamable HTTP transport, client side: POST for each message, SSE for what the server
sends."""
