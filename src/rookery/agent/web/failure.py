"""Why a page was not read."""


class Failure(Exception):
    """In words for the model."""
