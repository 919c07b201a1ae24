"""Sessions: listed, created, deleted."""

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from rookery.client import create, fleet
from rookery.client.config import in_force
from rookery.core.json.events import Json
from rookery.core.policy import modes
from rookery.core.view.fleet import is_hidden, state_of
from rookery.daemon.api.answers import READS, WRITES, Masked
from rookery.daemon.api.sending import send
from rookery.daemon.errors import Problem
from rookery.daemon.idempotency import Keys
from rookery.daemon.state import Daemon, SessionId, State
from rookery.models.choice import chosen_agent

router = APIRouter(tags=["sessions"])

PAGE = 100
Which = Literal["live", "archived", "all"]


class New(BaseModel):
    agent: str = Field("", max_length=200, description="Its name; empty: the default agent.")
    cwd: str = Field(min_length=1, max_length=4096, description="An existing directory.")
    title: str = Field("", max_length=200)
    roots: list[str] = Field(default=[], max_length=100, description="Further directories.")
    confirm: Literal["", "all", "risky", "never"] = Field(
        "", description="How much is asked; empty: as the settings say."
    )
    prompt: str = Field("", max_length=1_000_000, description="The first prompt; empty: none yet.")


class Created(BaseModel):
    id: str


class Done(BaseModel):
    done: bool = True


@router.get("/api/sessions", responses=READS, response_class=Masked)
async def list_sessions(
    daemon: Daemon,
    show: Annotated[
        Which, Query(description="Those in lists, the archived ones, or all.")
    ] = "live",
    page: Annotated[int, Query(ge=0, le=1_000_000, description="Of 100, from 0.")] = 0,
) -> Response:
    """Sessions, newest news first, 100 to a page."""
    await daemon.hub.look()
    return Masked(_listed(daemon, show, page))


def _listed(daemon: State, show: Which, page: int) -> Json:
    now = time.time() * 1000
    heads = daemon.fleet.heads
    if show == "live":
        heads = [head for head in heads if not is_hidden(head, now)]
    elif show == "archived":
        heads = [head for head in heads if head["archived"]]
    rows = [_row(head) for head in heads[page * PAGE : (page + 1) * PAGE]]
    more = len(heads) > (page + 1) * PAGE
    return {"sessions": rows, "total": len(heads), "next": page + 1 if more else None}


def _row(head: Json) -> Json:
    """A head as a client needs it: `events` is how many there are."""
    worker = head["worker"] or {}
    shown = {key: value for key, value in head.items() if key not in ("v", "worker")}
    process = {key: worker[key] for key in ("pid", "build") if key in worker}
    return {
        **shown,
        "status": state_of(head, awake=head["awake"]),
        "events": head["seq"],
        "process": process if head["awake"] else None,
    }


@router.get("/api/sessions/{session}", responses=READS, response_class=Masked)
async def read_session(daemon: Daemon, session: SessionId) -> Response:
    """One session as lists show it."""
    head = await asyncio.to_thread(fleet.head_of_session, daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    return Masked(_row(head))


@router.post("/api/sessions", status_code=201, responses=WRITES)
async def create_session(
    daemon: Daemon,
    new: New,
    idempotency_key: Annotated[
        str, Header(max_length=200, description="The same key again gives the same session.")
    ] = "",
) -> Created:
    """Create a session, and send its first prompt where there is one."""
    keys = Keys(daemon.home)
    session, fresh = await asyncio.to_thread(
        keys.once, idempotency_key, lambda: _create(daemon, new)
    )
    if new.prompt.strip() and fresh:
        prompt = [{"type": "text", "text": new.prompt}]
        await send(daemon, session, {"do": "prompt", "prompt": prompt})
    return Created(id=session)


def _create(daemon: State, new: New) -> str:
    cwd = _directory(new.cwd)
    settings = in_force.load(daemon.home)
    agent = chosen_agent(daemon.home, settings, cwd, new.agent)
    given: dict[str, Any] = {"roots": [_directory(root) for root in new.roots], "title": new.title}
    confirm = modes.value_of(new.confirm) or "" if new.confirm else ""
    return create.create_session(
        daemon.home, agent=agent.name, argv=[], cwd=cwd, confirm=confirm, **given
    )


def _directory(path: str) -> str:
    place = os.path.expanduser(path)
    if "\0" in path or not os.path.isabs(place) or not os.path.isdir(place):
        raise Problem(
            400,
            "no_directory",
            f"{path!r} is not a directory on this machine.",
            "Use a whole path.",
        )
    return os.path.realpath(place)


@router.delete("/api/sessions/{session}", responses=WRITES)
async def delete_session(daemon: Daemon, session: SessionId) -> Done:
    """Delete a session and all that is kept of it."""
    kept: Sequence[str] = []
    await asyncio.to_thread(fleet.remove, daemon.home, session, list(kept).append)
    await daemon.hub.look()
    return Done()
