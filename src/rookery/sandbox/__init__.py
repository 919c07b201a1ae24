"""Sandboxes, which keep an agent inside its session's directories (docs/sandbox.md)."""
