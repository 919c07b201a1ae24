"""The session screen: the end of the transcript in one response, and the older parts on request."""

import asyncio
import time
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.client.reading import block_at
from rookery.core.agent.imported import is_unloaded
from rookery.core.header import Header
from rookery.core.json.secrets import masked
from rookery.daemon import tail
from rookery.daemon.api.bodies import LARGEST
from rookery.daemon.page import shell
from rookery.daemon.pieces import regions
from rookery.daemon.state import Daemon, SessionId, State
from rookery.export.html.text import esc_line, tag
from rookery.home import paths
from rookery.log.reader import Reader

router = APIRouter(include_in_schema=False)

Place = Annotated[int | None, Query(ge=0, le=LARGEST)]

NOTHING = "Nothing here yet. Tell the agent what to do."


class Shown(NamedTuple):
    """The part of a session that the screen shows."""

    header: Header
    html: str
    seq: int
    """The last event of the session."""
    first: int
    upto: int
    marked: str = ""
    """The block that was asked for."""


@router.get("/sessions/{session}")
async def session_screen(daemon: Daemon, session: SessionId, at: Place = None) -> HTMLResponse:
    """`at`: the part that holds this event."""
    shown = await asyncio.to_thread(_read, daemon, session, at)
    return shell.page(
        daemon,
        title=masked(str(shown.header.title or "New session")),
        main=_screen(daemon, session, shown),
        session=session,
        screen="session",
        modules=("session.js", "bar.js", "composer.js", "asks.js"),
        styles=("transcript.css", "composer.css"),
    )


@router.get("/sessions/{session}/older")
async def older(
    daemon: Daemon, session: SessionId, before: Annotated[int, Query(ge=1, le=LARGEST)]
) -> HTMLResponse:
    """Return the part of the transcript that stands above an event."""
    read_only = daemon.options.read_only

    def read() -> str:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            excerpt = tail.before(log, before)
            first = min(excerpt.first or 1, before)
            link = _older(session, first)
            return link + tail.live_of(excerpt.document, session, read_only=read_only).html()

    return HTMLResponse(await asyncio.to_thread(read))


@router.get("/sessions/{session}/newer")
async def newer(
    daemon: Daemon, session: SessionId, after: Annotated[int, Query(ge=0, le=LARGEST)]
) -> HTMLResponse:
    """Return the part that follows an event; nothing if the stream sends it with the end."""
    read_only = daemon.options.read_only

    def read() -> str:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            last = log.last_seq()
            if tail.tail(log, last).first <= after + 1:
                return ""
            excerpt, upto = tail.after(log, after, last)
            excerpt.document.header = excerpt.document.header.with_(state="idle")
            html = tail.live_of(excerpt.document, session, read_only=read_only).html()
            return html + _newer(session, upto)

    return HTMLResponse(await asyncio.to_thread(read))


def _read(daemon: State, session: str, at: int | None) -> Shown:
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        last, marked = log.last_seq(), ""
        upto, excerpt = last, None
        if at is not None and 0 < at <= last:
            excerpt, upto = tail.around(log, at, last)
            marked = block_at(log, at)
        if excerpt is None:
            excerpt = tail.tail(log, upto)
        header = excerpt.document.header if upto == last else log.header_at(last)
        if upto < last:  # nothing in it goes on
            excerpt.document.header = excerpt.document.header.with_(state="idle")
        html = tail.live_of(excerpt.document, session, read_only=daemon.options.read_only).html()
    return Shown(header, html, last, excerpt.first, upto, marked)


def _loads(daemon: State, header: Header) -> bool:
    """Tell whether opening the page loads an imported history."""
    return is_unloaded(header) and not daemon.options.read_only


def _screen(daemon: State, session: str, shown: Shown) -> str:
    contents = regions.at_first(session, shown.header, closed=daemon.closed)
    about = (
        f'data-session="{esc_line(session)}" data-seq="{shown.seq}" data-now="{_now()}"'
        + (f' data-at="b{esc_line(shown.marked, 100)}"' if shown.marked else "")
        + (' data-past="1"' if shown.upto < shown.seq else "")
        + (' data-unloaded="1"' if _loads(daemon, shown.header) else "")
    )
    empty = tag("p", NOTHING, "empty") if not shown.html else ""
    transcript = (
        f'<div id="scroll" tabindex="0" role="region" aria-label="Transcript">'
        '<h2 class="unseen">Transcript</h2>'
        f'<div id="transcript" {about}>{_older(session, shown.first)}{shown.html}</div>'
        f"{empty}{_newer(session, shown.upto) if shown.upto < shown.seq else ''}</div>"
        '<div class="pill"><button type="button" id="below" data-do="below" hidden>New below'
        "</button></div>"
    )
    slots = "".join(
        f'<div id="{name}">{contents.get(name, "")}</div>' for name in ("queue", "composer")
    )
    return (
        f'<div id="session"><i id="rewound" hidden>{esc_line(contents["rewound"])}</i>'
        f'<div id="bar">{contents.get("bar", "")}</div>'
        f'<div id="talk">{transcript}{slots}</div><aside id="side" hidden></aside></div>'
    )


def _older(session: str, first: int) -> str:
    """Render a link to older turns, which a script follows in place, or "" if there are none."""
    if first <= 1:
        return ""
    return (
        f'<p id="older"><a class="button quiet" data-do="older" data-before="{first}"'
        f' href="/sessions/{esc_line(session)}?at={first - 1}">Earlier</a></p>'
    )


def _newer(session: str, upto: int) -> str:
    here = f"/sessions/{esc_line(session)}"
    return (
        f'<p id="newer"><a class="button quiet" data-do="newer" data-after="{upto}"'
        f' href="{here}?at={upto + 1}">Later</a>'
        f'<a class="button" href="{here}">Jump to the end</a></p>'
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
