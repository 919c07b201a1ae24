"""Commands for access from other machines and devices."""
