"""What sessions are created with: an agent, and a directory."""

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from rookery.agents import registry
from rookery.client.config import in_force
from rookery.client.imports.importing import HERE, NEW, Found, Importer, gathered
from rookery.core.agent.imported import Listed
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.bodies import Strict
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, State
from rookery.home.config import Config

router = APIRouter(tags=["agents"])


# --- sessions that were begun elsewhere --------------------------------------------------------

Agent = Annotated[str, Path(max_length=200, description="The agent's name.")]


class Elsewhere(BaseModel):
    """A session of the agent's own."""

    id: str
    cwd: str
    title: str
    updated: str = Field(description="When it was last used, according to the agent.")
    here: str = Field(description="The id of the session here, or in the trash; empty: none.")
    state: Literal["new", "here", "trashed", "removed", "no_directory"] = Field(
        description="`new`: it can be imported, or was just now. Else why it is not."
    )


class Listing(BaseModel):
    sessions: list[Elsewhere]


class Bring(Strict):
    id: str = Field(min_length=1, max_length=500, description="From the list.")
    cwd: str = Field(max_length=4096, description="From the list.")
    title: str = Field("", max_length=500, description="From the list.")
    updated: str = Field("", max_length=100, description="From the list.")


class Brought(BaseModel):
    id: str = Field(description="The id of the session here.")


class BringAll(Strict):
    sessions: list[Bring] = Field(max_length=1000, description="From the list.")
    removed: bool = Field(False, description="Also those that you removed permanently.")


def _agent(daemon: State, name: str, cwd: str) -> tuple[registry.Agent, Config]:
    settings = in_force.load(daemon.home)
    agent = registry.resolve(name, settings.agents)
    registry.check_installed(agent, os.environ, cwd or "/", settings.node_path)
    return agent, settings


class Of(Strict):
    cwd: str = Field("", max_length=4096, description="A directory; empty: all.")


@router.post("/api/agents/{agent}/sessions/list", responses=WRITES)
async def list_elsewhere(daemon: Daemon, agent: Agent, given: Of) -> Listing:
    """The sessions that you began with the agent without Rookery. The agent is started for it."""
    place = os.path.expanduser(given.cwd)
    known, settings = await asyncio.to_thread(_agent, daemon, agent, place)
    async with Importer(daemon.home, known, settings, os.environ) as importer:
        return _listing(await gathered(importer.pages(place)))


def _listing(rows: Sequence[Found]) -> Listing:
    found = [row.session._asdict() | {"here": row.here, "state": row.state} for row in rows]
    return Listing(sessions=[Elsewhere(**row) for row in found])


@router.get("/api/agents/{agent}/sessions", include_in_schema=False)
async def refuse_listing(agent: Agent) -> None:
    """Clients of earlier builds list them so; but a GET starts no agent."""
    raise Problem(
        409,
        "starts_agent",
        f"Listing the sessions of {agent} starts it, and a GET request starts nothing.",
        "Update this client, or reload the page. In a script: POST /api/agents/NAME/sessions/list",
    )


@router.post("/api/agents/{agent}/sessions", responses=WRITES)
async def import_session(daemon: Daemon, agent: Agent, given: Bring) -> Brought:
    """Import one of them; its history comes when it is opened. One that is here already is not
    imported again: its id is the answer."""
    wanted = [Listed(given.id, given.cwd, given.title, given.updated)]
    [found] = await _bring(daemon, agent, wanted, removed=True)
    if found.state not in (NEW, HERE):
        raise Problem(409, "cannot_import", found.why_not())
    return Brought(id=found.here)


@router.post("/api/agents/{agent}/sessions/import", responses=WRITES)
async def import_sessions(daemon: Daemon, agent: Agent, given: BringAll) -> Listing:
    """Import many of them, and tell what became of each."""
    wanted = [Listed(each.id, each.cwd, each.title, each.updated) for each in given.sessions]
    return _listing(await _bring(daemon, agent, wanted, removed=given.removed))


async def _bring(
    daemon: State, agent: str, wanted: Sequence[Listed], *, removed: bool
) -> list[Found]:
    known, settings = await asyncio.to_thread(_agent, daemon, agent, "/")
    importer = Importer(daemon.home, known, settings, os.environ)
    found = await asyncio.to_thread(importer.bring, wanted, removed=removed)
    await daemon.hub.look()
    return found
