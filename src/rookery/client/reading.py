"""Parts of a session read from its log: what opens at once, as a document, and the recap.

The end of a turn of any length is opened, of 5 MiB at most, together with what began above it and
is not over: so nothing that waits for the user is out of sight.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.blocks import Document
from rookery.core.view import carried
from rookery.core.view.recap import Recap, recap_of
from rookery.core.view.reduce import fold
from rookery.log.ending import ROOM
from rookery.log.reader import Reader


class Excerpt(NamedTuple):
    document: Document
    first: int
    """The first event of it; 0: it has none."""
    last: int
    above: bool
    """Whether its turn has more above."""
    cut: bool = False
    """Whether it has only the end of a text that is too long to open."""


def excerpt(
    log: Reader, upto: int | None = None, room: int = ROOM, *, folded: bool = True
) -> Excerpt:
    """Of the session's end, or of what stands up to an event; of one turn. Not `folded`: before its
    events, to follow from there."""
    header, events, above = log.part(upto, room)
    document = fold(header, events) if folded else Document(header)
    for _ in range(carried.DEEPEST if above else 0):  # a parent may have a parent
        before, missing = len(document.blocks), carried.wanted(document)
        carried.carry(document, header, log.some(missing.values()) if missing else [])
        if len(document.blocks) == before:
            break
    cut = folded and carried.clip(document, room)
    first, last = (events[0].seq, events[-1].seq) if events else (0, 0)
    return Excerpt(document, first, last, above, cut)


def recap(log: Reader, before: int | None = None) -> Recap:
    """Of the turns before the event `before`; None: before the agent last lost its memory (a
    reset, a clear, a switch), or of all turns where it never did."""
    if before is None:
        before = log.header()["recap"] or log.last_seq() + 1
    return recap_of(_pages(log, before))


def _pages(log: Reader, before: int) -> Iterator[Document]:
    """Newest first, each up to there; read as they are asked for."""
    numbers = range(1, log.turns() + 1)
    last = bisect_left(numbers, before, key=log.first_seq)
    for n in range(last, 0, -1):
        yield fold(log.header_before(n), (event for event in log.page(n) if event.seq < before))
