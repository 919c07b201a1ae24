"""A session's pages as the screen takes them: folded from the log, a few turns at a time."""

from rookery.core.document import Document, shown
from rookery.core.events import Json
from rookery.core.reduce import fold
from rookery.log.reader import Reader
from rookery.tui.transcript.window import Page

FIRST = 20
"""Blocks that open a session; where they do not fill the screen, it asks for more."""

ENOUGH = 60
"""Blocks that a step backward brings."""

MOST_TURNS = 20
"""Turns that are read at once, however short they are."""


def last_pages(log: Reader) -> tuple[Document, int, list[Page]]:
    """What opens a session: its last turn as a document that goes on, the number of its last
    event, and the pages of its end."""
    header, events = log.tail()
    document = fold(header, events)
    seq = events[-1].seq if events else 0
    dated(document)
    turn = document.header["turn"]
    pages = [Page(turn, {name: dict(block) for name, block in document.blocks.items()})]
    room = FIRST - len(document.blocks)
    return document, seq, [*older_pages(log, turn, room), *pages]


def older_pages(log: Reader, before: int, enough: int = ENOUGH) -> list[Page]:
    """Pages of the turns before one, oldest first, until there are enough blocks. Turn 0 is what
    came before the first prompt."""
    found: list[Page] = []
    turn = before - 1
    while turn >= 0 and enough > 0 and len(found) < MOST_TURNS:
        document = fold(log.header_before(turn) if turn else None, log.page(turn))
        dated(document)
        found.append(Page(turn, document.blocks))
        enough -= len(document.blocks)
        turn -= 1
    return found[::-1]


def dated(document: Document) -> None:
    """Running calls know since when: the fold remembers it, and tells it to nobody else."""
    for name, _, since in document.header["_tools"].values():
        if name in document.blocks:
            document.blocks[name]["since"] = since


def told(document: Document) -> Json:
    return shown(document.header)
