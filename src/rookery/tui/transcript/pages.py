"""A session's pages, folded from the log a few turns at a time."""

from rookery.client.reading import Excerpt, excerpt
from rookery.core.blocks.document import Document, shown
from rookery.core.header import Header
from rookery.core.turn.rewinding import Ranges
from rookery.log.history import History
from rookery.tui.transcript.window import Page

FIRST = 20
"""Blocks that open a session; the screen asks for more if needed."""

FIRST_ROOM = 1024 * 1024
"""Bytes of a long turn that are opened at first; scrolling loads the rest."""

ENOUGH = 60
"""Blocks loaded per step back."""

MOST_PAGES = 20
"""Pages read at once."""


def last_pages(log: History) -> tuple[Document, int, list[Page]]:
    """Return the end of the last turn as a document, the number of the last event, and the last
    pages."""
    opened = excerpt(log, room=FIRST_ROOM)
    document, page = opened.document, page_of(opened)
    page.blocks = {name: dict(block) for name, block in document.blocks.items()}
    page.carried = {name: dict(fields) for name, fields in document.carried.items()}
    room = 0 if page.above else FIRST - len(page.blocks)
    hidden = document.header.hidden
    return document, opened.last, [*older_pages(log, page.first, room, hidden), page]


def older_pages(
    log: History, before: int, enough: int = ENOUGH, hidden: Ranges | None = None
) -> list[Page]:
    """Return pages before an event, oldest first, until there are enough blocks: whole turns, or a
    stretch of a long one. `hidden`: what a rewind hides, if that is known."""
    pages: list[Page] = []
    if hidden is None and before > 1 and enough > 0:
        hidden = log.header().hidden
    while before > 1 and enough > 0 and len(pages) < MOST_PAGES:
        page = page_of(excerpt(log, before - 1, hidden=hidden))
        if not page.first:
            break
        pages.append(page)
        before, enough = page.first, 0 if page.above else enough - len(page.blocks)
    return pages[::-1]


def pages_upto(log: History, before: int, seq: int) -> list[Page]:
    """Return pages before an event, as far as that of the event `seq`."""
    pages = older_pages(log, before)
    while pages and pages[0].first > seq:
        more = older_pages(log, pages[0].first)
        if not more:
            break
        pages = [*more, *pages]
    return pages


def page_of(extract: Excerpt) -> Page:
    document = extract.document
    page = Page(document.header.turn, document.blocks, extract.first)
    page.carried, page.late = document.carried, document.late
    page.above, page.cut = extract.above, extract.cut
    return page


def shown_header(document: Document) -> Header:
    return Header(shown(document.header))
