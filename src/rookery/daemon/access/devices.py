"""Devices that are logged in, and the one-time links by which they do.

A browser has a key of its own and leaves its public half here. A program has a token: 256 bits of
chance, of which a plain hash is kept that cannot be guessed back. So nothing in the file lets
anybody in.
"""

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient
from rookery.daemon.access.tabs import Tabs
from rookery.daemon.access.visits import Visits
from rookery.home import paths
from rookery.log.lock import Lock

FILE, LOCK = "access.json", "devices.lock"
EARLIER = "devices.json"
"""Of builds whose browsers had a token, too, in a cookie. They would read neither a key nor what a
device may do: so all is in a file of our own, and theirs goes with the first change."""
BROWSERS = "Mozilla/"
"""The name that a browser logged in with begins with: earlier builds took it from the request."""
PREFIX = "rk_"
LINK_SECONDS = 600.0
MOST_LINKS = 100
NOTED = 60.0
"""Seconds between two notes of when a device was last here."""


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

    def shown(self) -> Json:
        shown = self._asdict()
        del shown["key"], shown["hash"]
        return {**shown, "kind": "browser" if self.key else "token"}


class Devices:
    """Read again when the file has changed: another process may revoke."""

    def __init__(self, home: str) -> None:
        self._directory = os.path.join(home, "daemon")
        self._path = os.path.join(self._directory, FILE)
        self._earlier = os.path.join(self._directory, EARLIER)
        self._stamp: object = None
        self._known: dict[str, Device] = {}
        self.visits = Visits()
        self.tabs = Tabs(self.visits.end)
        self._links: dict[str, float] = {}
        """The hash of each one-time code, and until when it is good; in memory alone."""

    def all(self) -> list[Device]:
        self._refresh()
        return sorted(self._known.values(), key=lambda device: device.created)

    def add(self, name: str, address: str = "") -> tuple[Device, str]:
        """A program and its token, which nobody can read again."""
        token = PREFIX + secrets.token_urlsafe(32)
        return self._added(name, address, hash=_hash(token)), token

    def add_browser(self, name: str, address: str, key: bytes) -> Device:
        return self._added(name, address, key=key.hex())

    def _added(self, name: str, address: str, **credential: str) -> Device:
        now = time.time_ns() // 1_000_000
        name = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:80]
        known = name or "unnamed"
        device = Device(os.urandom(4).hex(), known, now, now, address[:80], **credential)
        with self._writing():
            self._known[device.id] = device
        return device

    def revoke(self, name: str) -> bool:
        with self._writing():
            return self._known.pop(name, None) is not None

    def end_visits(self, name: str) -> None:
        """Close what the device has open."""
        self.visits.end(name)
        self.tabs.end_device(name)

    def find(self, name: str) -> Device | None:
        self._refresh()
        return self._known.get(name)

    def holder(self, token: str) -> Device | None:
        """The device whose token this is."""
        if not token.startswith(PREFIX) or len(token) > 200:
            return None
        self._refresh()
        wanted = _hash(token)
        return next((each for each in self._known.values() if each.hash == wanted), None)

    def note_use(self, device: Device, address: str) -> None:
        now = time.time_ns() // 1_000_000
        if now - device.used < NOTED * 1000:
            return
        with self._writing():
            if device.id in self._known:
                self._known[device.id] = device._replace(used=now, address=address[:80])

    # --- one-time links ------------------------------------------------------------------------

    def new_code(self, now: float) -> str:
        self._links = {each: until for each, until in self._links.items() if until > now}
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        code = secrets.token_urlsafe(24)
        self._links[_hash(code)] = now + LINK_SECONDS
        return code

    def redeem(self, code: str, now: float) -> bool:
        """Whether it was good; it no longer is."""
        return self._links.pop(_hash(code), 0.0) > now

    # --- the file ------------------------------------------------------------------------------

    def _refresh(self) -> None:
        stamp = _stamp(self._path) or _stamp(self._earlier)
        if stamp == self._stamp:
            return
        ours = os.path.exists(self._path)
        rows = lenient.mappings(paths.read_json(self._path if ours else self._earlier), "devices")
        known = [device for row in rows if (device := _device(row)) is not None]
        if not ours:
            known = [device for device in known if not device.name.startswith(BROWSERS)]
        self._stamp, self._known = stamp, {device.id: device for device in known}

    def _writing(self) -> "_Change":
        return _Change(self)


class _Change:
    """Under the lock: read, changed by the block, written."""

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
            rows = {"devices": [device._asdict() for device in devices._known.values()]}
            paths.write_atomic(devices._path, json.dumps(rows).encode(), 0o600, sync=True)
            with suppress(FileNotFoundError):
                os.unlink(devices._earlier)
            devices._stamp = None
        finally:
            self._lock.release()


def _device(row: dict[str, Any]) -> Device | None:
    name, title, address, key, token = (
        lenient.text(row, field) for field in ("id", "name", "address", "key", "hash")
    )
    if not name or not title or bool(key) == bool(token):
        return None
    times = [lenient.integer(row, field) or 0 for field in ("created", "used")]
    return Device(name, title, times[0], times[1], address, key, token)


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
