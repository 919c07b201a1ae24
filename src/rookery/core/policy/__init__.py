"""The rules and modes that answer asks without a person."""
