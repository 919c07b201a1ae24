"""Commands under "Look"."""
