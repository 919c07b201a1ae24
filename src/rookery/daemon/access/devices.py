"""Devices that are logged in, and the one-time links by which they log in.

A browser has a key pair of its own and registers the public half here. A program has a token of 256
random bits, of which only a hash is kept; it is infeasible to reverse. So nothing in the file lets
anybody in."""

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.json.senders import clean_name, sender
from rookery.core.limits import DAY
from rookery.core.refusals import Fixed
from rookery.core.settings.devices import DevicesPolicy
from rookery.daemon.access.names import BROWSER, readable
from rookery.daemon.access.roles import ALL, LOOK, ROLES
from rookery.daemon.access.tabs import Tabs
from rookery.daemon.access.visits import Visits
from rookery.home import paths
from rookery.log.lock import Lock

FILE, LOCK = "access.json", "devices.lock"
EARLIER = "devices.json"
"""The file of earlier builds, whose browsers also had tokens, in a cookie. Those builds can read
neither keys nor roles, so we keep everything in a file of our own and delete theirs at the first
change."""
FULL, LIMITED = "devices", "limited"
"""In the file: devices that may do everything, and the others. Builds that know no roles read the
first list alone."""
PREFIX = "rk_"
LINK_SECONDS = 600.0
MOST_LINKS = 100
NOTED = 3600.0
"""Seconds between two notes in the file of when a device was last here."""


class Device(NamedTuple):
    id: str
    name: str
    created: int
    used: int
    address: str = ""
    key: str = ""
    """A browser's public key, in hex."""
    hash: str = ""
    """Of a program's token."""
    role: str = ALL
    person: str = ""
    """Who uses it."""

    @property
    def sender(self) -> str:
        """The device in the form of an event's `by`."""
        return sender(self.id, self.name, self.person)

    def shown(self) -> Json:
        shown = self._asdict()
        del shown["key"], shown["hash"]
        return {**shown, "kind": "browser" if self.key else "token"}


class Grant(NamedTuple):
    """The rights that a one-time link grants."""

    role: str = ALL
    person: str = ""


EVERYTHING = Grant()


class Use(NamedTuple):
    """When a device was last used, by two clocks, since the wall clock may be adjusted."""

    at: int
    steady: float
    address: str


class LastOne(Fixed):
    """Raised when no device with the role `all` would be left."""

    reason = "last_device"

    def __init__(self) -> None:
        super().__init__(
            "This is the last device that may do everything: without it, no device could manage "
            "the others over the network.",
            "Give another device the role all first, or use rookery devices on the machine itself.",
        )


class Devices:
    """The registered devices of a home, read again whenever the file has changed: another process
    may revoke one."""

    def __init__(self, home: str) -> None:
        self._directory = os.path.join(home, "daemon")
        self._path = os.path.join(self._directory, FILE)
        self._earlier = os.path.join(self._directory, EARLIER)
        self._stamp: object = None
        self._known: dict[str, Device] = {}
        self.visits = Visits()
        self.tabs = Tabs(self.visits.end)
        self._links: dict[str, tuple[float, Grant]] = {}
        """The hash of each one-time code, until when it is good, and for what; in memory alone."""
        self._uses: dict[str, Use] = {}
        """Newer than the file's."""
        self.idle_days = DevicesPolicy().idle_days

    def all(self) -> list[Device]:
        self._refresh()
        return sorted(map(self._with_use, self._known.values()), key=lambda each: each.created)

    def _with_use(self, device: Device) -> Device:
        use = self._uses.get(device.id)
        return device._replace(used=use.at, address=use.address) if use else device

    def add(self, name: str, address: str = "", grant: Grant = EVERYTHING) -> tuple[Device, str]:
        """Register a program and return it with its token, which cannot be read again later."""
        token = PREFIX + secrets.token_urlsafe(32)
        return self._added(name, address, grant, hash=_hash(token)), token

    def add_browser(self, name: str, address: str, key: bytes, grant: Grant = EVERYTHING) -> Device:
        return self._added(name, address, grant, key=key.hex())

    def _added(self, name: str, address: str, grant: Grant, **credential: str) -> Device:
        now = _now()
        given = {**grant._asdict(), **credential}
        known = clean_name(name) or ("Browser" if "key" in credential else "Program")
        device = Device(os.urandom(4).hex(), known, now, now, address[:80], **given)
        with self._writing():
            self._known[device.id] = device
        return device

    def change(self, name: str, fields: dict[str, Any], *, here: bool = False) -> Device | None:
        """Change a device's name, role or person; return None if there is no such device. `here`
        means that the owner does so on this machine. Raises LastOne."""
        with self._writing():
            before = self._known.get(name)
            if before is None:
                return None
            after = before._replace(**fields)
            self._check_left({**self._known, name: after}, before, here=here)
            self._known[name] = after
        return after

    def revoke(self, name: str, *, here: bool = True) -> bool:
        """Remove a device; return whether it existed. Raises LastOne."""
        with self._writing():
            before = self._known.get(name)
            if before is None:
                return False
            left = {each: device for each, device in self._known.items() if each != name}
            self._check_left(left, before, here=here)
            self._known = left
            return True

    def _check_left(self, left: dict[str, Device], before: Device, *, here: bool) -> None:
        """Raise LastOne unless one of the devices left can still manage the others."""
        if here or before.role != ALL or not left:
            return
        if not any(each.role == ALL and not self.is_expired(each) for each in left.values()):
            raise LastOne

    def is_expired(self, device: Device) -> bool:
        """Tell whether a device was unused for too long. It stays registered, since a wrong clock
        may be corrected. A device that was used while this process runs does not expire because of
        a clock jump."""
        limit, use = self.idle_days * DAY, self._uses.get(device.id)
        if not limit or (use and _steady() - use.steady < limit):
            return False
        used = use.at if use else device.used
        return _now() - used > limit * 1000

    def end_visits(self, name: str) -> None:
        """Close everything that the device has open."""
        self.visits.end(name)
        self.tabs.end_device(name)

    def find(self, name: str) -> Device | None:
        self._refresh()
        return self._known.get(name)

    def holder(self, token: str) -> Device | None:
        """Return the device that this token belongs to, or None."""
        if not token.startswith(PREFIX) or len(token) > 200:
            return None
        self._refresh()
        digest = _hash(token)
        return next((each for each in self._known.values() if each.hash == digest), None)

    def note_use(self, device: Device, address: str) -> None:
        now = _now()
        self._uses[device.id] = Use(now, _steady(), address[:80])
        if abs(now - device.used) < NOTED * 1000:
            return
        with self._writing():
            if known := self._known.get(device.id):
                self._known[device.id] = known._replace(used=now, address=address[:80])

    def look_after(self) -> None:
        """Record open connections as use, and end those of devices that were revoked or have
        expired."""
        for name in self.visits.devices():
            device, use = self.find(name), self._uses.get(name)
            if device is None or self.is_expired(device):
                self.end_visits(name)
            else:
                self.note_use(device, use.address if use else device.address)

    # --- one-time links ------------------------------------------------------------------------

    def new_code(self, now: float, grant: Grant = EVERYTHING) -> str:
        self._links = {each: link for each, link in self._links.items() if link[0] > now}
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        code = secrets.token_urlsafe(24)
        self._links[_hash(code)] = now + LINK_SECONDS, grant
        return code

    def is_open(self, code: str, now: float) -> bool:
        """Tell whether a one-time code is still valid, without using it up."""
        return self._links.get(_hash(code), (0.0, None))[0] > now

    def redeem(self, code: str, now: float) -> Grant | None:
        """Use up a one-time code and return its grant, or None if it is not valid."""
        until, grant = self._links.pop(_hash(code), (0.0, None))
        return grant if until > now else None

    # --- the file ------------------------------------------------------------------------------

    def _refresh(self) -> None:
        stamp = _stamp(self._path) or _stamp(self._earlier)
        if stamp == self._stamp:
            return
        ours = os.path.exists(self._path)
        kept = paths.read_json(self._path if ours else self._earlier)
        rows = list(lenient.mappings(kept, FULL))
        if not ours:
            rows = [row for row in rows if not lenient.text(row, "name").startswith(BROWSER)]
        devices = [*(_device(row, ALL) for row in rows)]
        devices += [_device(row, LOOK) for row in lenient.mappings(kept, LIMITED)]
        self._stamp, self._known = stamp, {each.id: each for each in devices if each is not None}

    def _writing(self) -> "_Change":
        return _Change(self)


class _Change:
    """A change of the devices file: takes the lock, reads the file, lets the block change the
    devices, and writes them."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._lock: Lock | None = None

    def __enter__(self) -> None:
        paths.make_private(self._devices._directory)
        self._lock = Lock.acquire(os.path.join(self._devices._directory, LOCK), 5.0)
        self._devices._refresh()

    def __exit__(self, *_: object) -> None:
        assert self._lock is not None
        devices = self._devices
        try:
            rows: dict[str, list[Json]] = {FULL: [], LIMITED: []}
            for device in devices._known.values():
                rows[FULL if device.role == ALL else LIMITED].append(device._asdict())
            paths.write_atomic(devices._path, json.dumps(rows).encode(), 0o600, sync=True)
            with suppress(FileNotFoundError):
                os.unlink(devices._earlier)
            devices._stamp = None
        finally:
            self._lock.release()


def _device(row: dict[str, Any], least: str) -> Device | None:
    """Parse a row of the file; its role is `least` unless the row names a known one."""
    name, title, address, key, token, role, person = (
        lenient.text(row, field)
        for field in ("id", "name", "address", "key", "hash", "role", "person")
    )
    if not name or not title or bool(key) == bool(token):
        return None
    created, used = (lenient.integer(row, field) or 0 for field in ("created", "used"))
    role = role if role in ROLES else least
    return Device(name, readable(title), created, used, address, key, token, role, person)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _steady() -> float:
    """Return the seconds of a clock that nobody can set and that keeps running while the machine
    sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _stamp(path: str) -> object:
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_ino, stat.st_size


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
