"""Merging, dropping and comparing the branches that sessions work on, also those of a race."""
