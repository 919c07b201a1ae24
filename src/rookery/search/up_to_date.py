"""A search for which the index is brought up to date first, as far as there is time."""

import os

from rookery.search.query import Answer, Filters, query
from rookery.search.update import Progress, update

WAIT = 1.0
"""Seconds for another process that updates the index."""


def found(
    home: str, words: str, filters: Filters, limit: int, seconds: float
) -> tuple[Answer, Progress]:
    """What the index has for a query, and how far it was brought within `seconds`; 0: the index is
    used as it is."""
    progress = update(home, wait=WAIT, seconds=seconds) if seconds else Progress(done=True)
    if filters.directory:
        place = os.path.abspath(os.path.expanduser(filters.directory))
        filters = filters._replace(directory=place)
    answer = query(home, words, filters, limit)
    if progress.problem and not answer.problem:
        problem = f"Some sessions could not be indexed: {progress.problem}"
        answer = answer._replace(problem=problem)
    return answer, progress
