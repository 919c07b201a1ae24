"""The end of a session as the page opens it: whole blocks, a screenful or a few at least."""

import time
from functools import partial
from typing import NamedTuple

from rookery.client.reading import Excerpt, excerpt
from rookery.core.blocks.document import Document, join
from rookery.core.turn.rewinding import Ranges
from rookery.core.view.reduce import step
from rookery.daemon.pieces.live import Live, Regions
from rookery.daemon.pieces.transcript import view_of
from rookery.log.reader import Reader

ROOM = 384 * 1024
"""Bytes of events that one piece of the transcript is made of, about."""
FEWEST = 40
"""Blocks: turns are added above until there are as many."""
TURNS = 20
"""Turns that are read for that at most."""
STEPS = (200, 40, 8, 0)
"""Events after one that are read with it, of a turn that is long."""
LATER = 2_000
"""Events behind a piece that may tell how something in it ended."""


class Piece(NamedTuple):
    document: Document
    first: int
    """Its first event."""
    older: bool
    """Whether there is more above."""


def tail(log: Reader, upto: int, room: int = ROOM, hidden: Ranges | None = None) -> Piece:
    """What stands up to an event. `hidden`: what a rewind hides; None: as the event knows it."""
    found = excerpt(log, upto, room, hidden=hidden)
    document, first = found.document, found.first
    hidden = document.header["hidden"] if hidden is None else hidden
    read = 1
    while first > 1 and (not document.blocks or _has_room(found, read, document)):
        found = excerpt(log, first - 1, room // 2, hidden=hidden)
        if not found.first:
            break
        document, first = join(found.document, document), found.first
        read += 1
    return Piece(document, first, first > 1)


def _has_room(found: Excerpt, read: int, document: Document) -> bool:
    """For the turn above what was read so far."""
    return not found.above and read < TURNS and len(document.blocks) < FEWEST


def before(log: Reader, seq: int) -> Piece:
    """What stands before an event; how it ended may be told later."""
    found = tail(log, max(0, seq - 1), hidden=log.header()["hidden"])
    header = log.header_at(max(0, seq - 1))
    blocks = found.document.blocks
    for event in log.read(seq - 1, LATER):
        header, ops = step(header, event)
        found.document.apply([op for op in ops if op[0] != "put" and op[1] in blocks])
    return found


def around(log: Reader, seq: int, last: int) -> tuple[Piece, int]:
    """The piece that holds an event, and where it ends."""
    for upto in _ends(seq, _end(log, seq, last)):
        found = tail(log, upto)
        if found.first <= seq:
            break
    return found, upto


def after(log: Reader, seq: int, last: int) -> tuple[Piece, int]:
    """What follows an event, turn by turn, and where it ends. It may begin above the event: a turn
    is read from its beginning, or from where one that is long can be read."""
    upto, document, first, long = seq, Document(), 0, False
    while upto < last and len(document.blocks) < FEWEST and not long:
        whole = _end(log, upto + 1, last)
        for end in _ends(upto + 1, whole):
            found = excerpt(log, end, ROOM)
            if found.first <= upto + 1:
                break
        long = end < whole
        if long and first:
            break
        document = join(document, found.document) if first else found.document
        upto, first = end, first or found.first
    return Piece(document, first, first > 1), upto


def _end(log: Reader, seq: int, last: int) -> int:
    """Of the turn that an event belongs to."""
    return min(last, (log.first_seq(log.turn_of(seq) + 1) or last + 1) - 1)


def _ends(seq: int, end: int) -> list[int]:
    """Up to where a piece is read that is to hold an event: `end`, or less where that is long."""
    return [end, *(min(end, seq + step) for step in STEPS)]


def live_of(
    document: Document, session: str, *, read_only: bool, regions: Regions | None = None
) -> Live:
    """A document as a page that goes on."""
    view = partial(view_of, session=session, now=time.time() * 1000, read_only=read_only)
    return Live(document, view, regions)
