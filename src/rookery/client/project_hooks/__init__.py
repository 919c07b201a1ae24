"""Hooks that come with a project: what they are, and whether the user trusts them."""
