"""Screens to look back with."""
