"""The error that a page could not be read."""


class Failure(Exception):
    """A page could not be read; the message is for the model."""
