"""Parsing shell command lines as a shell would: rules and the guard judge what a line runs, not the
words that happen to be in it."""
