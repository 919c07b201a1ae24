"""Where an agent runs so that it cannot leave its session's directories (docs/sandbox.md)."""
