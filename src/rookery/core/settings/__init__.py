"""Settings as values: what loosens them, what they were called before."""
