"""A module for each vendor's agent. A new one is a file here with a VENDOR, and nothing else."""
