"""Reading the end of a session for the page: whole blocks, at least a screenful or a few turns."""

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
    """Return the part of the session that ends at event `upto`. `hidden` is what a rewind hides;
    None means as of that event."""
    part = excerpt(log, upto, room, hidden=hidden)
    document, first = part.document, part.first
    hidden = document.header.hidden if hidden is None else hidden
    read = 1
    while first > 1 and (not document.blocks or _has_room(part, read, document)):
        part = excerpt(log, first - 1, room // 2, hidden=hidden)
        if not part.first:
            break
        document, first = join(part.document, document), part.first
        read += 1
    return Piece(document, first, first > 1)


def _has_room(part: Excerpt, read: int, document: Document) -> bool:
    """Tell whether the turn above what was read should be read, too."""
    return not part.above and read < TURNS and len(document.blocks) < FEWEST


def before(log: Reader, seq: int) -> Piece:
    """Return the piece before an event, with later events that tell how something in it ended."""
    piece = tail(log, max(0, seq - 1), hidden=log.header().hidden)
    header = log.header_at(max(0, seq - 1))
    blocks = piece.document.blocks
    for event in log.read(seq - 1, LATER):
        header, ops = step(header, event)
        piece.document.apply([op for op in ops if op[0] != "put" and op[1] in blocks])
    return piece


def around(log: Reader, seq: int, last: int) -> tuple[Piece, int]:
    """Return the piece that contains an event, and the event at which it ends."""
    for upto in _ends(seq, _end(log, seq, last)):
        piece = tail(log, upto)
        if piece.first <= seq:
            break
    return piece, upto


def after(log: Reader, seq: int, last: int) -> tuple[Piece, int]:
    """Return what follows an event, turn by turn, and the event at which it ends. It may begin
    before the event: a turn is read from its beginning, or a long one from where it can be read."""
    upto, document, first, long = seq, Document(), 0, False
    while upto < last and len(document.blocks) < FEWEST and not long:
        whole = _end(log, upto + 1, last)
        for end in _ends(upto + 1, whole):
            part = excerpt(log, end, ROOM)
            if part.first <= upto + 1:
                break
        long = end < whole
        if long and first:
            break
        document = join(document, part.document) if first else part.document
        upto, first = end, first or part.first
    return Piece(document, first, first > 1), upto


def _end(log: Reader, seq: int, last: int) -> int:
    """Return the last event of the turn that an event belongs to."""
    return min(last, (log.first_seq(log.turn_of(seq) + 1) or last + 1) - 1)


def _ends(seq: int, end: int) -> list[int]:
    """Return the events to try as the end of a piece that must contain an event: `end`, then
    earlier ones in case the turn is long."""
    return [end, *(min(end, seq + step) for step in STEPS)]


def live_of(
    document: Document, session: str, *, read_only: bool, regions: Regions | None = None
) -> Live:
    """Return a document as a live page."""
    view = partial(view_of, session=session, now=time.time() * 1000, read_only=read_only)
    return Live(document, view, regions)
