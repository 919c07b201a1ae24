"""Routes that list sessions, by cursor and, as in earlier builds, by page number."""

import asyncio
import time
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rookery.client import liveness
from rookery.client.update.workers import is_older
from rookery.core.json import Json
from rookery.core.view import states
from rookery.core.view.fleet import is_hidden, is_parked, state_of
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, State
from rookery.render import signs

router = APIRouter(tags=["sessions"])

PAGE = 100
Which = Literal["live", "archived", "all"]
Probe = Annotated[
    bool, Query(description="Ask the worker whether it responds (`hung`); it may take 2 s.")
]


@router.get("/api/sessions", responses=reads(shapes.Sessions), response_class=Masked)
async def list_sessions(
    daemon: Daemon,
    show: Annotated[Which, Query(description="Listed sessions, archived ones, or all.")] = "live",
    page: Annotated[int, Query(ge=0, le=1_000_000, description="Pages of 100, from 0.")] = 0,
    probe: Probe = False,
) -> Response:
    """Sessions, newest news first, 100 to a page."""
    await daemon.hub.look()
    listing = _listed(daemon, show, page)
    await _with_hung(daemon, listing["sessions"], probe=probe)
    return Masked(listing)


@router.get("/api/v1/sessions", responses=reads(shapes.SessionPage), response_class=Masked)
async def list_sessions_by_cursor(
    daemon: Daemon,
    show: Annotated[Which, Query(description="Listed sessions, archived ones, or all.")] = "live",
    cursor: Annotated[str, Query(max_length=100, description="`next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="Sessions on a page.")] = PAGE,
    probe: Probe = False,
) -> Response:
    """Sessions, newest news first. A session with news goes to the front: nothing is listed twice
    while you read on, and what came in front is on the first page."""
    await daemon.hub.look()
    heads = _shown(daemon, show)
    rest = [head for head in heads if _place(head) > _place_of(cursor)] if cursor else heads
    rows = await _with_hung(daemon, [row_of(head) for head in rest[:limit]], probe=probe)
    more = len(rest) > limit
    following = _cursor(rest[limit - 1]) if more else None
    return Masked({"sessions": rows, "total": len(heads), "next": following})


def _place(head: Json) -> tuple[float, str]:
    """Return the sort key of a session: newest news first."""
    return -float(head["at"]), str(head["id"])


def _cursor(head: Json) -> str:
    return f"{head['at']}_{head['id']}"


def _place_of(cursor: str) -> tuple[float, str]:
    """Parse a cursor into the sort key of its session. Raises Problem."""
    at, _, session = cursor.partition("_")
    try:
        return -float(at), session
    except ValueError:
        message = "cursor: is none of this list"
        raise Problem(422, "invalid", message, "Send `next` of the page before.") from None


def _listed(daemon: State, show: Which, page: int) -> Json:
    heads = _shown(daemon, show)
    rows = [row_of(head) for head in heads[page * PAGE : (page + 1) * PAGE]]
    more = len(heads) > (page + 1) * PAGE
    return {"sessions": rows, "total": len(heads), "next": page + 1 if more else None}


def _shown(daemon: State, show: Which) -> list[Json]:
    now = time.time() * 1000
    heads = daemon.fleet.heads
    if show == "live":
        return [head for head in heads if not is_hidden(head, now)]
    return [head for head in heads if head["archived"]] if show == "archived" else heads


async def _with_hung(daemon: State, rows: list[Json], *, probe: bool) -> list[Json]:
    if probe:
        names = [row["id"] for row in rows if row["awake"]]
        silent = await asyncio.to_thread(liveness.hung, daemon.home, names)
        for row in rows:
            row["hung"] = row["id"] in silent
    return rows


def row_of(head: Json) -> Json:
    """Return a head in the form that clients need; `events` is the number of events."""
    worker = head["worker"] or {}
    shown = {key: value for key, value in head.items() if key not in ("v", "worker")}
    process = {key: worker[key] for key in ("pid", "build") if key in worker}
    status = state_of(head, awake=head["awake"])
    shown |= states.standing(head, status)
    return {
        **shown,
        "status": status,
        "label": signs.label(shown, time.time() * 1000),
        "events": head["seq"],
        "parked": is_parked(head),
        "process": process if head["awake"] else None,
        "stale": bool(head["awake"] and is_older(worker)),
        "hung": False,
    }
