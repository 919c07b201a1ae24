"""Commands under "Keep house"."""
