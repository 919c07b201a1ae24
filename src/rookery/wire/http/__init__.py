"""ACP's Streamable HTTP transport, the client's half: POST for each message, SSE for what comes."""
