"""Routes about the daemon itself: its version, its health, and the page that documents the API."""

import asyncio
import os
import time
from itertools import chain
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import BaseModel, Field

from rookery.build import build
from rookery.daemon import acp
from rookery.daemon.access.gate import HEALTH
from rookery.daemon.api.answers import READS, faults, sends
from rookery.daemon.api.documentation import page
from rookery.daemon.errors import Problem
from rookery.daemon.metrics import exposition
from rookery.daemon.metrics.exposition import gauge
from rookery.daemon.state import Daemon
from rookery.export.html.page import colours

router = APIRouter(tags=["daemon"])

STYLE = os.path.join(os.path.dirname(__file__), "style.css")
STALE_SECONDS = 60.0
"""Without a good look at the sessions, after which the daemon does not call itself well."""


class About(BaseModel):
    build: str
    directory: str = Field(description="Its user's own directory, where sessions may work.")
    device: str = Field(description="Which device this is; empty: it needs no login.")
    since: int = Field(description="When it started, in milliseconds since the epoch.")
    auth: str
    read_only: bool = Field(description="This device may change nothing.")
    role: str = Field(description="What this device may do: `look`, `answer` or `all`.")
    sessions: int
    awake: int


@router.get("/api/about", responses=READS)
async def read_about(daemon: Daemon) -> About:
    """The daemon: its build, its directory, its access rules, and how many sessions it serves."""
    heads = daemon.fleet.heads
    return About(
        build=build(),
        directory=os.path.expanduser("~"),
        device=daemon.device.id if daemon.device else "",
        since=daemon.since,
        auth=daemon.options.auth,
        read_only=daemon.read_only,
        role=daemon.role,
        sessions=len(heads),
        awake=sum(bool(head["awake"]) for head in heads),
    )


@router.head(HEALTH, include_in_schema=False)
@router.get(
    HEALTH,
    response_class=PlainTextResponse,
    responses=faults(503),
    openapi_extra={"security": []},
)
async def read_health(daemon: Daemon) -> PlainTextResponse:
    """Whether the daemon is well; needs no login and tells nothing else."""
    if time.monotonic() - daemon.hub.looked > STALE_SECONDS:
        raise Problem(
            503,
            "unwell",
            "The daemon cannot look at its sessions.",
            "run/daemon.log of Rookery's home says why.",
        )
    return PlainTextResponse("ok\n")


@router.get("/metrics", responses=sends("text/plain"), response_class=PlainTextResponse)
async def read_metrics(daemon: Daemon, request: Request) -> Response:
    """Prometheus' text format: sessions by state, open asks, streams, delays, errors and memory.
    No title, path or other text of a session."""
    heads, hub = daemon.fleet.heads, daemon.hub
    memory = await asyncio.to_thread(lambda: list(exposition.sessions_memory(heads)))
    lines = chain(
        exposition.process(daemon.since),
        exposition.sessions(heads),
        memory,
        gauge("rookery_streams", "Clients that watch by WebSocket or events.", hub.watchers),
        gauge("rookery_sessions_followed", "Sessions that are watched.", hub.followed),
        gauge("rookery_acp_connections", "Editors connected by /acp.", acp.count(request.app)),
        exposition.measured(),
    )
    return Response("\n".join(lines) + "\n", media_type=exposition.CONTENT_TYPE)


@router.get("/api/docs", include_in_schema=False)
async def documentation(request: Request) -> HTMLResponse:
    document: dict[str, Any] = request.app.openapi()
    return HTMLResponse(page(document))


@router.get("/style.css", include_in_schema=False)
def style() -> Response:
    """Serve the style sheet of the page about the API."""
    with open(STYLE, encoding="utf-8") as file:
        sheet = colours() + file.read()
    return Response(sheet, media_type="text/css", headers={"Cache-Control": "max-age=3600"})
