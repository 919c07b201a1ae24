"""Translating version 2 of the protocol, as drafted in SDK 2.4.0, to version 1 and back."""
