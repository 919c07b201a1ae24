"""What sessions are created with: an agent, and a directory."""

import asyncio
import os
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rookery.client.config import in_force
from rookery.client.work_tree.directories import completed
from rookery.core.json import Json
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon
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
        words = "This Rookery only shows: no session can be created."
        raise Problem(403, "read_only", words, "Start it without --read-only.")
    return Masked({"directories": await asyncio.to_thread(completed, prefix)})
