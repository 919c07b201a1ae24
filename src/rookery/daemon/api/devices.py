"""Devices that are logged in, links for new ones, and Web Push to their browsers."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from rookery.client.config import in_force
from rookery.daemon.access.gate import DEVICE
from rookery.daemon.api.answers import READS, WRITES, faults
from rookery.daemon.api.bodies import Strict
from rookery.daemon.errors import Problem
from rookery.daemon.notify import push
from rookery.daemon.notify.keys import shown_key
from rookery.daemon.notify.subscriptions import Subscription, Subscriptions, fault_of
from rookery.daemon.state import Daemon

router = APIRouter(tags=["devices"])


class Listed(BaseModel):
    id: str
    name: str
    created: int
    used: int = Field(description="When it was last here, to the minute.")
    address: str
    kind: str = Field(description="`browser`: it has a key of its own. `token`: a program.")


class Link(BaseModel):
    link: str = Field(description="Works once, within ten minutes.")


class Done(BaseModel):
    done: bool = True


@router.get("/api/devices", responses=READS)
async def list_devices(daemon: Daemon) -> list[Listed]:
    """Every device that is logged in. No token is kept, only its hash; no key, only its public
    half."""
    return [Listed(**device.shown()) for device in daemon.devices.all()]


@router.post("/api/devices/link", responses=WRITES)
async def create_link(daemon: Daemon) -> Link:
    """A one-time link by which another device logs in."""
    return Link(link=daemon.login_link())


@router.delete("/api/devices/{device}", responses=WRITES)
async def revoke_device(daemon: Daemon, device: Annotated[str, Path(max_length=100)]) -> Done:
    """Log a device out for good. What it has open is closed."""
    if not await asyncio.to_thread(daemon.devices.revoke, device):
        raise Problem(
            404, "unknown_device", f"There is no device {device!r}.", "GET /api/devices lists them."
        )
    daemon.devices.end_visits(device)
    return Done()


# --- Web Push ------------------------------------------------------------------------------------


class Key(BaseModel):
    key: str = Field(description="For the browser's `applicationServerKey`, in base64url.")


class Keys(Strict):
    p256dh: str = Field(pattern="^B[A-Za-z0-9_-]{86}=?$")
    auth: str = Field(pattern="^[A-Za-z0-9_-]{22}(==)?$")


class Wanted(Strict):
    """A subscription as the browser's `toJSON` gives it."""

    endpoint: str = Field(
        max_length=2000,
        pattern=r"^https://[!-~]+$",
        examples=["https://push.example/send/3f2a91bc"],
    )
    keys: Keys
    expirationTime: float | None = Field(None, description="Ignored.")  # noqa: N815 - the browser's


@router.get("/api/push/key", responses=faults(409, 507))
async def read_push_key(daemon: Daemon) -> Key:
    """The key that a browser subscribes with. It is made at first use."""
    _require_installed()
    private = await asyncio.to_thread(Subscriptions(daemon.home).key)
    return Key(key=shown_key(private))


@router.post("/api/push/subscriptions", responses=WRITES)
async def subscribe_to_push(daemon: Daemon, request: Request, wanted: Wanted) -> Done:
    """Send notifications to this browser, until its device logs out."""
    _require_installed()
    device = request.scope.get(DEVICE)
    new = Subscription(
        wanted.endpoint, wanted.keys.p256dh, wanted.keys.auth, device.id if device else ""
    )
    private = (await asyncio.to_thread(in_force.load, daemon.home)).notify.push_private
    if why := fault_of(new.endpoint, private=private) or push.keys_fault(new):
        raise Problem(409, "bad_subscription", why, "Subscribe again in the browser.")
    await asyncio.to_thread(Subscriptions(daemon.home).add, new)
    return Done()


@router.delete("/api/push/subscriptions", responses=WRITES)
async def unsubscribe_from_push(
    daemon: Daemon, endpoint: Annotated[str, Query(min_length=1, max_length=2000)]
) -> Done:
    """Send this browser nothing more."""
    if not await asyncio.to_thread(Subscriptions(daemon.home).remove, endpoint):
        raise Problem(404, "unknown_subscription", "No browser subscribed with this address.")
    return Done()


def _require_installed() -> None:
    if why := push.missing():
        raise Problem(409, "not_installed", why, "Install it where the daemon runs.")
