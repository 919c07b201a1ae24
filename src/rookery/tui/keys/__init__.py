"""The keys of the interface, and where each works."""
