"""What of a session opens at once: the end of it, or of what stands above that, as a document.

The end of a turn of any length is opened, of 5 MiB at most, together with what began above it and
is not over: so nothing that waits for a person is out of sight.
"""

from typing import NamedTuple

from rookery.core.blocks.document import Document
from rookery.core.json.events import Json
from rookery.core.view import carried
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


def excerpt(log: Reader, upto: int | None = None, room: int = ROOM) -> Excerpt:
    """Of the session's end, or of what stands up to an event; of one turn."""
    header, events, above = log.part(upto, room)
    document = fold(header, events)
    if above:
        _carry(log, document, header)
    cut = carried.clip(document, room)
    first, last = (events[0].seq, events[-1].seq) if events else (0, 0)
    return Excerpt(document, first, last, above, cut)


def beginning(log: Reader) -> Excerpt:
    """As `excerpt` of the session's end, but before its events: for whoever follows from there."""
    header, events, above = log.part()
    document = Document(header)
    if above:
        _carry(log, document, header)
    first, last = (events[0].seq, events[-1].seq) if events else (1, 0)
    return Excerpt(document, first, last, above)


def _carry(log: Reader, document: Document, header: Json) -> None:
    for _ in range(carried.DEEPEST):  # a parent may have a parent
        before, missing = len(document.blocks), carried.wanted(document)
        carried.carry(document, header, log.some(missing.values()) if missing else [])
        if len(document.blocks) == before:
            break
