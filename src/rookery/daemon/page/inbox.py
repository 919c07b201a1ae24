"""The inbox screen: the open asks of all sessions, one at a time, with the context that led to
each."""

import asyncio
import os
import time
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.client.reading import excerpt
from rookery.core.json import Json
from rookery.core.view.fleet import is_hidden
from rookery.daemon.page import shell
from rookery.daemon.pieces import inbox
from rookery.daemon.pieces.inbox import Context, Open
from rookery.daemon.state import Daemon, State
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader

router = APIRouter(include_in_schema=False)

At = Annotated[str, Query(max_length=400, description="Which ask is shown: SESSION:ASK.")]
ROOM = 128 * 1024
"""Bytes of events that are read for what led to an ask."""
MAX_SESSIONS = 200
"""Sessions whose asks are listed."""


@router.get("/inbox")
async def screen(daemon: Daemon, at: At = "") -> HTMLResponse:
    main = f'<div class="screen" id="inbox">{await _rendered(daemon, at)}</div>'
    return shell.page(
        daemon,
        title="Inbox",
        main=main,
        here="inbox",
        modules=("asks.js", "inbox.js"),
        styles=("inbox.css",),
    )


@router.get("/pieces/inbox")
async def piece(daemon: Daemon, at: At = "") -> HTMLResponse:
    return HTMLResponse(await _rendered(daemon, at))


async def _rendered(daemon: State, at: str) -> str:
    now = time.time() * 1000
    heads = [head for head in daemon.fleet.heads if head["asks"] and not is_hidden(head, now)]
    asks, closed = await asyncio.to_thread(_open, daemon.home, heads[:MAX_SESSIONS])
    closed += [head for head in daemon.fleet.heads if head.get("damaged")]
    shown = next((each for each in asks if each.name == at), asks[0] if asks else None)
    context = await asyncio.to_thread(_context, daemon.home, shown) if shown else None
    read_only = daemon.options.read_only
    return inbox.rendered(asks, shown, context, now, read_only=read_only) + inbox.skipped(closed)


def _open(home: str, heads: list[Json]) -> tuple[list[Open], list[Json]]:
    """Return the open asks, those that have waited longest first, and the sessions that cannot be
    read."""
    asks, closed = list[Open](), list[Json]()
    for head in heads:
        directory = paths.session_dir(home, head["id"])
        try:
            with Reader.open(directory) as log:
                asks += inbox.open_asks(head, log.header())
        except (LogError, OSError, paths.PathError):
            closed += [head] if os.path.lexists(directory) else []  # else it went meanwhile
    return sorted(asks, key=lambda each: each.at), closed


def _context(home: str, shown: Open) -> Context:
    try:
        with Reader.open(paths.session_dir(home, shown.head["id"])) as log:
            seq = log.last_seq()
            return Context(seq, list(excerpt(log, seq, ROOM).document.blocks.values()))
    except (LogError, OSError, paths.PathError):
        return Context(0, [])
