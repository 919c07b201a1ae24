"""Commands under "Other"."""
