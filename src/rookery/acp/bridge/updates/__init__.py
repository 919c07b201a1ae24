"""Conversion of events to `session/update`s."""
