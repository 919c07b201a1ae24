"""What this daemon is, and the page that explains the API."""

import os
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from rookery.build import build
from rookery.daemon.access.devices import Device
from rookery.daemon.access.gate import DEVICE
from rookery.daemon.api.answers import READS
from rookery.daemon.api.documentation import page
from rookery.daemon.state import Daemon
from rookery.export.html.page import colours

router = APIRouter(tags=["daemon"])

STYLE = os.path.join(os.path.dirname(__file__), "style.css")


class About(BaseModel):
    build: str
    directory: str = Field(description="Its user's own directory, where sessions may work.")
    device: str = Field(description="Which device this is; empty: it needs no login.")
    since: int = Field(description="When it started, in milliseconds since the epoch.")
    auth: str
    read_only: bool
    sessions: int
    awake: int


@router.get("/api/about", responses=READS)
async def read_about(daemon: Daemon, request: Request) -> About:
    """What this daemon is and how many sessions it serves."""
    heads = daemon.fleet.heads
    device: Device | None = request.scope.get(DEVICE)
    return About(
        build=build(),
        directory=os.path.expanduser("~"),
        device=device.id if device else "",
        since=daemon.since,
        auth=daemon.options.auth,
        read_only=daemon.options.read_only,
        sessions=len(heads),
        awake=sum(bool(head["awake"]) for head in heads),
    )


@router.get("/api/docs", include_in_schema=False)
async def documentation(request: Request) -> HTMLResponse:
    document: dict[str, Any] = request.app.openapi()
    return HTMLResponse(page(document))


@router.get("/style.css", include_in_schema=False)
def style() -> Response:
    """Of the page about the API."""
    with open(STYLE, encoding="utf-8") as file:
        sheet = colours() + file.read()
    return Response(sheet, media_type="text/css", headers={"Cache-Control": "max-age=3600"})
