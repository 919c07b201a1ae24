"""What sessions are created with: an agent, and a directory."""

import asyncio
import os
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from rookery.agents import registry
from rookery.client.config import in_force
from rookery.client.imports import importing
from rookery.client.imports.agent_sessions import CannotImport
from rookery.client.work_tree.directories import completed
from rookery.core.agent.imported import Listed
from rookery.core.json import Json
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import WRITES, Masked, reads
from rookery.daemon.api.bodies import Strict
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, State
from rookery.home.config import Config
from rookery.models import agents
from rookery.models.choice import default_agent

router = APIRouter(tags=["agents"])


@router.get("/api/agents", responses=reads(shapes.Agents, 409), response_class=Masked)
async def list_agents(daemon: Daemon) -> Response:
    """The known agents: which are installed, what is missing, and how to install the rest."""

    def read() -> Json:
        settings = in_force.load(daemon.home)
        found = agents.listed(daemon.home, settings, daemon.home)
        default = default_agent(daemon.home, settings.default_agent, os.environ)
        return {"agents": found, "default": default}

    return Masked(await asyncio.to_thread(read))


@router.get("/api/directories", responses=reads(shapes.Directories), response_class=Masked)
async def find_directories(
    daemon: Daemon,
    prefix: Annotated[
        str, Query(max_length=4096, description="How the path begins: `/srv/sh`, `~/`.")
    ] = "~/",
) -> Response:
    """Directories whose paths begin so: where a session could work. Names only."""
    if daemon.options.read_only:
        words = "This Rookery is read-only: no session can be created."
        raise Problem(403, "read_only", words, "Start it without --read-only.")
    return Masked({"directories": await asyncio.to_thread(completed, prefix)})


# --- sessions that were begun elsewhere --------------------------------------------------------

Agent = Annotated[str, Path(max_length=200, description="The agent's name.")]


class Elsewhere(BaseModel):
    """A session of the agent's own."""

    id: str
    cwd: str
    title: str
    updated: str = Field(description="When it was last used, according to the agent.")
    here: str = Field(description="The id of the session here; empty: it is not imported.")


class Listing(BaseModel):
    sessions: list[Elsewhere]


class Bring(Strict):
    id: str = Field(min_length=1, max_length=500, description="From the list.")
    cwd: str = Field(min_length=1, max_length=4096, description="From the list.")
    title: str = Field("", max_length=500, description="From the list.")


class Brought(BaseModel):
    id: str = Field(description="The id of the session here.")


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
    try:
        rows = await importing.find(daemon.home, known, settings, os.environ, place)
    except CannotImport as error:
        raise Problem(409, "cannot_import", str(error)) from None
    return Listing(sessions=[Elsewhere(**row.session._asdict(), here=row.here) for row in rows])


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
    """Import one of them. One that is here already is not imported again: its id is the answer."""
    known, settings = await asyncio.to_thread(_agent, daemon, agent, given.cwd)
    wanted = Listed(given.id, given.cwd, given.title, "")
    try:
        found = await importing.bring(daemon.home, known, settings, os.environ, wanted)
    except CannotImport as error:
        raise Problem(409, "cannot_import", str(error)) from None
    await daemon.hub.look()
    return Brought(id=found.here)
