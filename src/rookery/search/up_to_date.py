"""Searching with an index that is first brought up to date, as far as time allows."""

import os

from rookery.search.query import Answer, Filters, query
from rookery.search.update import Progress, update

WAIT = 1.0
"""Seconds for another process that updates the index."""


def update_and_query(
    home: str, text: str, filters: Filters, limit: int, seconds: float
) -> tuple[Answer, Progress]:
    """Update the index for up to `seconds`, then query it; 0: the index is used as it is. Return
    the answer and how far the update got."""
    progress = update(home, wait=WAIT, seconds=seconds) if seconds else Progress(done=True)
    if filters.directory:
        place = os.path.abspath(os.path.expanduser(filters.directory))
        filters = filters._replace(directory=place)
    answer = query(home, text, filters, limit)
    if progress.problem and not answer.problem:
        problem = f"Some sessions could not be indexed: {progress.problem}"
        answer = answer._replace(problem=problem)
    return answer, progress
