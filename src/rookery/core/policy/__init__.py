"""The rules and modes that answer asks without asking the user."""
