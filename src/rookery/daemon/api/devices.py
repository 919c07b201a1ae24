"""Routes for devices: those that are logged in, links for new ones, and Web Push to their
browsers."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from rookery.client.config import in_force
from rookery.client.daemon.origin import SENDER
from rookery.core.json.secrets import masked_json
from rookery.core.json.senders import NAME_MOST, clean_name
from rookery.daemon.access.devices import Device, Grant
from rookery.daemon.access.gate import PEER
from rookery.daemon.access.journal import deeds
from rookery.daemon.access.recognition import forbidden
from rookery.daemon.access.roles import ALL, NAMES
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import READS, WRITES, faults
from rookery.daemon.api.bodies import Strict
from rookery.daemon.errors import Problem
from rookery.daemon.notify import push
from rookery.daemon.notify.keys import shown_key
from rookery.daemon.notify.subscriptions import Subscription, Subscriptions, fault_of
from rookery.daemon.state import Daemon, State

router = APIRouter(tags=["devices"])

ROLE = "`look`: reads. `answer`: also answers questions, once each. `all`: everything."
Role = Literal["look", "answer", "all"]
Title = Annotated[str, Field(max_length=NAME_MOST)]
Id = Annotated[str, Path(max_length=100)]


class DeviceList(BaseModel):
    id: str
    name: str
    created: int
    used: int = Field(description="When it was last here, to the minute.")
    address: str
    kind: str = Field(description="`browser`: it has a key of its own. `token`: a program.")
    role: str = Field(description=ROLE)
    person: str = Field(description="Who uses it; may be empty.")
    expired: bool = Field(description="It was not used for too long, and has to log in again.")


class Link(BaseModel):
    link: str = Field(description="Works once, within ten minutes.")


class Wish(Strict):
    """The role of the device that logs in by the link, and who uses it."""

    role: Role = Field("all", description=ROLE)
    person: Title = ""


class Changed(Strict):
    """Changes to a device. A field that is left out keeps its value."""

    name: Annotated[Title, Field(min_length=1)] | None = None
    role: Role | None = Field(None, description=ROLE)
    person: Title | None = Field(None, description="Empty: not stated.")


class DeviceChanged(BaseModel):
    done: bool = True


@router.get("/api/devices", responses=READS)
async def list_devices(daemon: Daemon) -> list[DeviceList]:
    """Every device that is logged in. No token is kept, only its hash; no key, only its public
    half."""
    return [_listed(daemon, device) for device in daemon.devices.all()]


def _listed(daemon: State, device: Device) -> DeviceList:
    return DeviceList(**device.shown(), expired=daemon.devices.is_expired(device))


class DeviceDeed(BaseModel):
    at: int = Field(description=shapes.WHEN)
    did: str = Field(description="In words.")
    device: str = Field(description="The id of the device that did it; empty: none.")
    name: str = Field(description="Its name at that time.")
    person: str
    session: str = Field(description="Where it was done; may be empty.")
    title: str
    of: str = Field(description="The name of the device that it was done to; may be empty.")


@router.get("/api/devices/log", responses=READS)
async def read_device_log(
    daemon: Daemon,
    device: Annotated[str, Query(max_length=100, description="Only of this one.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[DeviceDeed]:
    """The actions of devices, newest first: in sessions, with settings, and with devices."""
    entries = await asyncio.to_thread(deeds, daemon.home, daemon.fleet.heads, device, limit)
    return [DeviceDeed(**masked_json(each._asdict())) for each in entries]


@router.post("/api/devices/link", responses=WRITES)
async def create_link(daemon: Daemon, wish: Wish | None = None) -> Link:
    """A one-time link by which another device logs in."""
    return Link(link=linked(daemon, wish or Wish(role="all")))


def linked(daemon: State, wish: Wish) -> str:
    daemon.journal.note("made a one-time link", SENDER.get(), role=wish.role)
    return daemon.login_link(Grant(wish.role, clean_name(wish.person)))


@router.patch("/api/devices/{device}", responses=WRITES)
async def change_device(daemon: Daemon, request: Request, device: Id, given: Changed) -> DeviceList:
    """Rename a device, change what it may do, or say who uses it. A new role holds at once: what
    the device has open is closed."""
    fields = {key: clean_name(text) for key, text in given.model_dump(exclude_none=True).items()}
    if "name" in fields and not fields["name"]:
        raise Problem(422, "invalid", "name: has nothing that can be shown", "Use letters.")
    before = daemon.devices.find(device)
    after = await asyncio.to_thread(
        daemon.devices.change, device, fields, here=request.scope[PEER].local
    )
    if before is None or after is None:
        raise unknown(device)
    if after.role != before.role:
        daemon.devices.end_visits(device)
    for key, text in fields.items():
        if text != (old := getattr(before, key)):
            was, now = (NAMES.get(each, each) if key == "role" else each for each in (old, text))
            did = f"changed {key}: {was or '-'} → {now or '-'}"
            daemon.journal.note(did, SENDER.get(), of=before.sender)
    return _listed(daemon, after)


@router.delete("/api/devices/{device}", responses=WRITES)
async def revoke_device(daemon: Daemon, request: Request, device: Id) -> DeviceChanged:
    """Log a device out permanently and close what it has open. Every device may log itself out."""
    if daemon.device and daemon.role != ALL and daemon.device.id != device:
        raise forbidden(daemon.device)
    before = daemon.devices.find(device)
    here = request.scope[PEER].local
    done = await asyncio.to_thread(daemon.devices.revoke, device, here=here)
    if before is None or not done:
        raise unknown(device)
    daemon.journal.note("revoked", SENDER.get(), of=before.sender)
    daemon.devices.end_visits(device)
    return DeviceChanged()


def unknown(device: str) -> Problem:
    message = f"There is no device {device!r}."
    return Problem(404, "unknown_device", message, "GET /api/devices lists them.")


# --- Web Push ------------------------------------------------------------------------------------


class Key(BaseModel):
    key: str = Field(description="For the browser's `applicationServerKey`, in base64url.")


class Keys(Strict):
    p256dh: str = Field(pattern="^B[A-Za-z0-9_-]{86}=?$")
    auth: str = Field(pattern="^[A-Za-z0-9_-]{22}(==)?$")


class PushSubscription(Strict):
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
async def subscribe_to_push(daemon: Daemon, wanted: PushSubscription) -> DeviceChanged:
    """Send notifications to this browser, until its device logs out."""
    _require_installed()
    device = daemon.device.id if daemon.device else ""
    new = Subscription(wanted.endpoint, wanted.keys.p256dh, wanted.keys.auth, device)
    private = (await asyncio.to_thread(in_force.load, daemon.home)).notify.push_private
    if why := fault_of(new.endpoint, private=private) or push.keys_fault(new):
        raise Problem(409, "bad_subscription", why, "Subscribe again in the browser.")
    await asyncio.to_thread(Subscriptions(daemon.home).add, new)
    return DeviceChanged()


@router.delete("/api/push/subscriptions", responses=WRITES)
async def unsubscribe_from_push(
    daemon: Daemon, endpoint: Annotated[str, Query(min_length=1, max_length=2000)]
) -> DeviceChanged:
    """Send this browser nothing more."""
    if not await asyncio.to_thread(Subscriptions(daemon.home).remove, endpoint):
        raise Problem(404, "unknown_subscription", "No browser subscribed with this address.")
    return DeviceChanged()


def _require_installed() -> None:
    if why := push.missing():
        raise Problem(409, "not_installed", why, "Install it where the daemon runs.")
