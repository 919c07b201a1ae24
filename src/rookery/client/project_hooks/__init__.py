"""Hooks that a project brings along: what they are, and whether the user trusts them."""
