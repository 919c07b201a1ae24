"""Devices that are logged in, and the one-time links by which they do: only hashes are kept.

A token is 256 bits of chance, so a plain hash of it cannot be guessed back.
"""

import hashlib
import json
import os
import secrets
import time
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient
from rookery.daemon.access.visits import Visits
from rookery.home import paths
from rookery.log.lock import Lock

FILE, LOCK = "devices.json", "devices.lock"
PREFIX = "rk_"
LINK_SECONDS = 600.0
MOST_LINKS = 100
NOTED = 60.0
"""Seconds between two notes of when a device was last here."""


class Device(NamedTuple):
    id: str
    name: str
    hash: str
    created: int
    used: int
    address: str = ""

    def shown(self) -> Json:
        return {key: value for key, value in self._asdict().items() if key != "hash"}


class Devices:
    """Read again when the file has changed: another process may revoke."""

    def __init__(self, home: str) -> None:
        self._directory = os.path.join(home, "daemon")
        self._path = os.path.join(self._directory, FILE)
        self._stamp: object = None
        self._known: dict[str, Device] = {}
        self.visits = Visits()
        self._links: dict[str, float] = {}
        """The hash of each one-time code, and until when it is good; in memory alone."""

    def all(self) -> list[Device]:
        self._refresh()
        return sorted(self._known.values(), key=lambda device: device.created)

    def add(self, name: str, address: str = "") -> tuple[Device, str]:
        """A new device and its token, which nobody can read again."""
        token, now = PREFIX + secrets.token_urlsafe(32), time.time_ns() // 1_000_000
        name = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:80]
        device = Device(
            os.urandom(4).hex(), name or "unnamed", _hash(token), now, now, address[:80]
        )
        with self._writing():
            self._known[device.id] = device
        return device, token

    def revoke(self, name: str) -> bool:
        with self._writing():
            return self._known.pop(name, None) is not None

    def knows(self, name: str) -> bool:
        self._refresh()
        return name in self._known

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
        try:
            found = os.stat(self._path)
            stamp: object = (found.st_mtime_ns, found.st_ino, found.st_size)
        except FileNotFoundError:
            stamp = None
        if stamp == self._stamp:
            return
        rows = lenient.mappings(paths.read_json(self._path), "devices")
        known = [device for row in rows if (device := _device(row)) is not None]
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
            devices._stamp = None
        finally:
            self._lock.release()


def _device(row: dict[str, Any]) -> Device | None:
    texts = [lenient.text(row, key) for key in ("id", "name", "hash")]
    if not all(texts):
        return None
    times = [lenient.integer(row, key) or 0 for key in ("created", "used")]
    return Device(texts[0], texts[1], texts[2], times[0], times[1], lenient.text(row, "address"))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
