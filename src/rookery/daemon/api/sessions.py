"""Routes that list, create and delete sessions."""

import asyncio
import os
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, Field

from rookery.client import create, fleet, liveness
from rookery.client.config import in_force
from rookery.client.trash import emptying
from rookery.core import budgets
from rookery.core.json import Json
from rookery.core.policy import approvals
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import WRITES, Masked, reads, with_shape
from rookery.daemon.api.bodies import Attached, Seq, SessionFields, Strict
from rookery.daemon.api.sending import first_prompt, send
from rookery.daemon.api.session_list import Probe, row_of
from rookery.daemon.errors import Problem
from rookery.daemon.idempotency import Keys, digest
from rookery.daemon.state import Daemon, SessionId, State
from rookery.home import paths, seen
from rookery.models.choice import chosen_agent
from rookery.operations.directories import directory

router = APIRouter(tags=["sessions"])

PICKS = ("model", "mode", "effort")


Key = Annotated[
    str, Header(alias="Idempotency-Key", max_length=200, description="The same key runs once.")
]
Approval = Annotated[
    Literal["", "every", "risky", "all", "plan"],
    BeforeValidator(lambda given: approvals.id_of(str(given)) or given),
]
"""How a session asks; the words of the table are taken, too."""
Budget = Annotated[str, Field(max_length=100, examples=["2 USD"])]


class New(Strict):
    agent: str = Field(
        "", max_length=200, description="Empty: the default agent.", examples=["demo"]
    )
    cwd: str = Field(
        min_length=1,
        max_length=4096,
        description="An existing directory.",
        examples=["/srv/app"],
    )
    title: str = Field("", max_length=200)
    roots: list[Annotated[str, Field(max_length=4096)]] = Field(
        default=[], max_length=100, description="Other directories the agent may use."
    )
    confirm: Approval = Field(
        "",
        description="; ".join(
            f"`{each.id}` ({each.label}): {each.more}" for each in approvals.TABLE
        )
        + ". The words are taken, too. Empty: as the settings say.",
    )
    model: str = Field("", max_length=200, description="The agent's model; empty: its default.")
    mode: str = Field("", max_length=200, description="Such as `plan`; empty: as `confirm` says.")
    effort: str = Field("", max_length=200, description="How hard it thinks; empty: its default.")
    sandbox: Literal["", "none", "bwrap", "container"] = Field(
        "", description="What it runs in. Empty: as the settings say."
    )
    budget: dict[Literal["turn", "session", "day"], Budget] = Field(
        default={}, description="Budgets of this session; see docs/budgets.md."
    )
    worktree: bool | Annotated[str, Field(max_length=100)] = Field(
        False,
        description="Work in a git worktree and branch of its own; a text names the branch. "
        "The answer comes when its set-up command has ended.",
        examples=[False],
    )
    base: str = Field(
        "",
        max_length=200,
        description="What the worktree begins at: a commit, branch or tag; empty: the last commit.",
    )
    race: str = Field("", max_length=64, description="The id of the race it takes part in.")
    prompt: str = Field("", max_length=1_000_000, description="The first prompt; empty: none yet.")
    files: list[Annotated[str, Field(max_length=4096)]] = Field(
        default=[], max_length=50, description="Files of its directory that the prompt mentions."
    )
    attachments: list[Attached] = Field(
        default=[], max_length=8, description="10 MiB each and 20 MiB together at most."
    )


class Created(BaseModel):
    id: str


@router.get("/api/sessions/{session}", responses=reads(shapes.Session, 409), response_class=Masked)
async def read_session(daemon: Daemon, session: SessionId, probe: Probe = False) -> Response:
    """One session as lists show it."""
    head = await asyncio.to_thread(fleet.listed, daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    row = row_of(head)
    if probe and head["awake"]:
        row["hung"] = bool(await asyncio.to_thread(liveness.hung, daemon.home, [session]))
    return Masked(row)


@router.post("/api/sessions", status_code=201, responses=WRITES)
async def create_session(
    daemon: Daemon,
    new: New,
    idempotency_key: Annotated[
        str,
        Header(
            alias="Idempotency-Key",
            max_length=200,
            description="The same key again gives the same session.",
        ),
    ] = "",
) -> Created:
    """Create a session, and send its first prompt if there is one."""
    session = await asyncio.to_thread(_create_once, daemon, new, idempotency_key)
    if new.prompt.strip() or new.attachments:
        given = (new.prompt, new.files, new.attachments)
        prompt = await asyncio.to_thread(first_prompt, daemon.home, session, *given)
        named = {"id": f"first.{digest(idempotency_key)[:32]}"} if idempotency_key else {}
        await send(daemon, session, {"do": "prompt", "prompt": prompt, **named})
    await daemon.hub.look()
    return Created(id=session)


def _create_once(daemon: State, new: New, key: str) -> str:
    def make(session: str) -> None:
        if not os.path.isdir(paths.session_dir(daemon.home, session)):
            created(daemon, new, session)

    if not key:
        return created(daemon, new)
    return Keys(daemon.home).once(key, new.model_dump_json(), paths.new_id, make)


def created(daemon: State, new: New, session: str = "") -> str:
    cwd = directory(new.cwd)
    settings = in_force.load(daemon.home)
    agent = chosen_agent(daemon.home, settings, cwd, new.agent, sandbox=new.sandbox)
    given: dict[str, Any] = {"roots": [directory(root) for root in new.roots], "title": new.title}
    given |= {"confirm": new.confirm, "session": session}
    given["picks"] = {name: getattr(new, name) for name in PICKS if getattr(new, name)}
    given |= {"sandbox": new.sandbox, "budget": _budgets(new)}
    if new.worktree:
        given["worktree"] = new.worktree if isinstance(new.worktree, str) else ""
        given["base"] = new.base
    given["race"] = new.race
    emptying.before_session(daemon.home)
    return create.create_session(daemon.home, agent=agent.name, argv=[], cwd=cwd, **given)


def _budgets(new: New) -> dict[str, str]:
    try:
        return {scope: budgets.check(amount) for scope, amount in new.budget.items()}
    except budgets.BadBudget as error:
        raise Problem(409, "bad_budget", f"A budget {error}.", "Correct it.") from None


class Seen(Strict):
    seq: Seq


class Noted(BaseModel):
    seen: int = Field(description="The last event that was seen.")


@router.post("/api/sessions/{session}/seen", responses=WRITES)
async def mark_seen(daemon: Daemon, session: SessionId, given: Seen) -> Noted:
    """The events up to `seq` were seen: for them the session is no longer unread."""
    directory = paths.session_dir(daemon.home, session)
    await asyncio.to_thread(seen.mark, directory, given.seq)
    return Noted(seen=seen.seen(directory))


@router.patch(
    "/api/sessions/{session}", responses=with_shape(shapes.Session, WRITES), response_class=Masked
)
async def change_session(daemon: Daemon, session: SessionId, given: SessionFields) -> Response:
    """Rename a session, archive, snooze or pin it, or undo that."""
    for command in _commands(given):
        await send(daemon, session, command)
    await daemon.hub.look()
    return await read_session(daemon, session)


def _commands(given: SessionFields) -> Iterator[Json]:
    if given.title is not None:
        yield {"do": "rename", "title": given.title}
    if given.archived is not None:
        yield {"do": "archive" if given.archived else "unarchive"}
    if given.snoozed is not None:
        yield {"do": "snooze", "until": given.snoozed}
    if given.pinned is not None:
        yield {"do": "pin" if given.pinned else "unpin"}
