"""Pictures drawn in the terminal: what it can draw, and the encoding of each protocol."""
