"""Devices that are logged in, and links for new ones."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from rookery.daemon.api.answers import READS, WRITES
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon

router = APIRouter(tags=["devices"])


class Listed(BaseModel):
    id: str
    name: str
    created: int
    used: int = Field(description="When it was last here, to the minute.")
    address: str


class Link(BaseModel):
    link: str = Field(description="Good once, for ten minutes.")


class Done(BaseModel):
    done: bool = True


@router.get("/api/devices", responses=READS)
async def list_devices(daemon: Daemon) -> list[Listed]:
    """Every device that is logged in. Tokens are not kept, only their hashes."""
    return [Listed(**device.shown()) for device in daemon.devices.all()]


@router.post("/api/devices/link", responses=WRITES)
async def create_link(daemon: Daemon) -> Link:
    """A one-time link by which another device logs in."""
    return Link(link=daemon.login_link())


@router.delete("/api/devices/{device}", responses=WRITES)
async def revoke_device(daemon: Daemon, device: Annotated[str, Path(max_length=100)]) -> Done:
    """Log a device out for good."""
    if not await asyncio.to_thread(daemon.devices.revoke, device):
        raise Problem(
            404, "unknown_device", f"There is no device {device!r}.", "GET /api/devices lists them."
        )
    return Done()
