"""The agents that sessions can be created with."""

import asyncio
import os

from fastapi import APIRouter
from fastapi.responses import Response

from rookery.client.config import in_force
from rookery.core.json import Json
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads
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
