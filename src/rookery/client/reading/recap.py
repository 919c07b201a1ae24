"""A session's recap from its log: for whoever has a composer to put it into (row S2)."""

from bisect import bisect_left
from collections.abc import Iterator

from rookery.core.blocks.document import Document
from rookery.core.view.recap import Primer, primer
from rookery.core.view.reduce import fold
from rookery.log.reader import Reader


def recap(log: Reader, before: int | None = None) -> Primer:
    """Of the turns before the event `before`; None: before the agent last lost its memory (a
    reset, a clear, a switch), or of all turns where it never did."""
    if before is None:
        before = log.header()["recap"] or log.last_seq() + 1
    return primer(_pages(log, before))


def _pages(log: Reader, before: int) -> Iterator[Document]:
    """Newest first, each up to there; read as they are asked for."""
    numbers = range(1, log.turns() + 1)
    last = bisect_left(numbers, before, key=log.first_seq)
    for n in range(last, 0, -1):
        yield fold(log.header_before(n), (event for event in log.page(n) if event.seq < before))
