"""Corrections of the OpenHands SDK and its client library."""
