"""Rewinding and forking: which turns there are, what a rewind would change, and a fork from one of
them."""
