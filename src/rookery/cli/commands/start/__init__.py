"""Commands under "Start and talk"."""
