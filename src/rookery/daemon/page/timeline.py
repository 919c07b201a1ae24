"""The timeline screen: a page of a session's turns, read from the outline of its log."""

import asyncio
import threading
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.core.turn.rewinding import Ranges, is_hidden
from rookery.daemon.page import shell
from rookery.daemon.pieces.review import timeline
from rookery.daemon.state import Daemon, SessionId
from rookery.home import paths
from rookery.log.reader import Reader

router = APIRouter(include_in_schema=False)

TURNS = 100
"""On a page."""
EVENTS = 200_000
"""That a page is made from; of a longer turn, the beginning is looked through."""
KEPT = 32

_lock = threading.Lock()
_pages: dict[tuple[str, int, int], timeline.Page] = {}
"""Cached pages by log, first turn and last event: turns that have ended do not change."""


@router.get("/sessions/{session}/timeline")
async def timeline_screen(
    daemon: Daemon,
    session: SessionId,
    turn: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    piece: bool = False,
    side: bool = False,
) -> HTMLResponse:
    """`turn`: the last one of the page; else the last of all."""
    directory = paths.session_dir(daemon.home, session)
    turns_page = await asyncio.to_thread(page, directory, session, turn)
    inner = timeline.rendered(turns_page, side=side)
    if piece:
        return HTMLResponse(inner)
    return shell.page(
        daemon,
        title="Timeline",
        main=f'<h1 class="unseen">Timeline</h1><div class="review">{inner}</div>',
        session=session,
        screen="timeline",
        styles=("changes.css",),
    )


def page(directory: str, session: str, turn: int | None) -> timeline.Page:
    """Return the page that ends at a turn. Only that part of the log is read."""
    with Reader.open(directory) as log:
        last, hidden = log.turns(), log.header().hidden
        end = min(turn or last, last)
        first = max(1, end - TURNS + 1)
        end = max(end, min(last, first + TURNS - 1))
        newest = log.last_seq() if end == last else 0
        key = (directory, first * 10**6 + end - first, newest)
        with _lock:
            known = _pages.get(key)
        if known is not None:
            return _visible(known._replace(last=last), hidden)
        rows = log.outline(first, end, EVENTS)
        numbers = [seq for seq, _, kind, _ in rows if kind in timeline.KINDS]
        turns = timeline.turns_of(rows, log.some(numbers))
    turns_page = timeline.Page(session, turns, last, cut=len(rows) == EVENTS)
    with _lock:
        _pages[key] = turns_page
        while len(_pages) > KEPT:
            del _pages[next(iter(_pages))]
    return _visible(turns_page, hidden)


def _visible(page: timeline.Page, hidden: Ranges) -> timeline.Page:
    """Drop the turns that a rewind took back."""
    if not hidden:
        return page
    return page._replace(turns=[turn for turn in page.turns if not is_hidden(hidden, turn.seq)])
