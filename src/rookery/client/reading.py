"""Parts of a session read from its log: what is shown on opening, as a document, and the recap.

The end of a turn of any length is opened, up to 5 MiB, together with whatever began above it and is
not over: so nothing that waits for the user is out of sight."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.agent.prompt import words_of
from rookery.core.blocks.document import HEADER, Document
from rookery.core.json import kind_of, lenient
from rookery.core.turn import rewinding
from rookery.core.turn.rewinding import Ranges
from rookery.core.view import carried
from rookery.core.view.recap import Recap, recap_of
from rookery.core.view.reduce import fold, reduce
from rookery.log.ending import ROOM
from rookery.log.history import History


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
    log: History,
    upto: int | None = None,
    room: int = ROOM,
    *,
    folded: bool = True,
    hidden: Ranges | None = None,
) -> Excerpt:
    """Return the tail of one turn, ending at event `upto` or at the session's end. With
    `folded=False` the document is the state before those events, for callers that replay them.
    `hidden`: what a rewind hides, from a later header than the excerpt's own."""
    header, events, above = log.part(upto, room)
    document = fold(header, events) if folded else Document(header)
    for _ in range(carried.DEEPEST if above else 0):  # a parent may have a parent
        before, missing = len(document.blocks), carried.wanted(document)
        carried.carry(document, header, log.some(missing.values()) if missing else [])
        if len(document.blocks) == before:
            break
    hidden = document.header.hidden if hidden is None else hidden
    for name in [name for name in document.blocks if rewinding.hides_block(hidden, name)]:
        document.apply([["drop", name]])
    cut = folded and carried.clip(document, room)
    first, last = (events[0].seq, events[-1].seq) if events else (0, 0)
    return Excerpt(document, first, last, above, cut)


BESIDE, AFTER, NEAR = 2, 100, 512 * 1024
"""Blocks beside one, events after one, and bytes that are read for them."""


def block_at(log: History, seq: int) -> str:
    """Return the id of the block that an event made or changed, "" if none."""
    header, events, _ = log.part(seq, NEAR)
    document = fold(header, events[:-1])
    for op in reduce(document, events[-1]) if events else []:
        name = op[1]["id"] if op[0] == "put" else op[1]
        if name != HEADER and op[0] != "drop":
            return str(name)
    return ""


def around(log: History, seq: int) -> Document:
    """Return the block of an event and its neighbours in the same turn."""
    end = log.first_seq(log.turn_of(seq) + 1)
    part = excerpt(log, min(seq + AFTER, end - 1) if end else seq + AFTER, NEAR)
    if part.first > seq:  # what follows is large
        part = excerpt(log, seq, NEAR)
    name, names = block_at(log, seq), list(part.document.blocks)
    place = names.index(name) if name in names else len(names) - 1
    for number, each in enumerate(names):
        if abs(number - place) > BESIDE and each != name:
            del part.document.blocks[each]
    return part.document


def recap(log: History, before: int | None = None) -> Recap:
    """Return a recap of the turns before the event `before`; None: before the agent last lost its
    memory (a reset, a clear, a switch), or of all turns if it never did."""
    if before is None:
        before = log.header().recap or log.last_seq() + 1
    return recap_of(_pages(log, before))


def _pages(log: History, before: int) -> Iterator[Document]:
    """Yield a document for each turn, newest first, ending at `before`, without what a rewind
    hides; each is read only when requested."""
    hidden = log.header().hidden
    numbers = range(1, log.turns() + 1)
    last = bisect_left(numbers, before, key=log.first_seq)
    for n in range(last, 0, -1):
        if rewinding.is_hidden(hidden, log.first_seq(n)):
            continue
        yield fold(log.header_before(n), (event for event in log.page(n) if event.seq < before))


def prompt_text(log: History, turn: int) -> str:
    """Return the user's prompt that began a turn; "" if there was none or it is no longer there."""
    for event in log.some([log.first_seq(turn)]):
        if kind_of(event.update) == "_prompt":
            return words_of(lenient.sequence(event.update, "prompt"))
    return ""
