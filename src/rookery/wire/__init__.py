"""Turning bytes into messages: JSON-RPC with agents and editors, frames between our own
processes."""
