"""Storage of the Web Push subscriptions and of the key that the daemon signs with: one file that
only the user can read."""

import ipaddress
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from rookery.core.json import Json, lenient
from rookery.daemon.notify.keys import is_key, new_key
from rookery.home import paths
from rookery.log.lock import Lock

FILE, LOCK = "push.json", "push.lock"
MAX_SUBSCRIPTIONS = 50
"""How many subscriptions are kept; the oldest is dropped first."""
LOCAL = ("localhost", "local", "internal", "home.arpa", "lan")
"""Ends of names that only this machine or its network knows."""


class Subscription(NamedTuple):
    endpoint: str
    p256dh: str
    """The browser's public key, as it writes it."""
    auth: str
    device: str = ""
    """The id of the device that subscribed; empty: the owner of the home."""


class Subscriptions:
    def __init__(self, home: str) -> None:
        self._directory = os.path.join(home, "daemon")
        self._path = os.path.join(self._directory, FILE)

    def exist(self) -> bool:
        return os.path.exists(self._path)

    def all(self) -> list[Subscription]:
        return _subscriptions(paths.read_json(self._path))

    def add(self, new: Subscription) -> None:
        with self._changing() as kept:
            rest = [each for each in _subscriptions(kept) if each.endpoint != new.endpoint]
            kept["subscriptions"] = [each._asdict() for each in [*rest, new][-MAX_SUBSCRIPTIONS:]]

    def remove(self, endpoint: str) -> bool:
        """Remove a subscription; return False if there is none with that endpoint."""
        with self._changing() as kept:
            before = _subscriptions(kept)
            rest = [each for each in before if each.endpoint != endpoint]
            kept["subscriptions"] = [each._asdict() for each in rest]
            return len(rest) < len(before)

    def key(self) -> str:
        """Return the private key; it is made at first use."""
        private = lenient.text(paths.read_json(self._path), "key")
        if is_key(private):
            return private
        with self._changing() as kept:
            if not is_key(lenient.text(kept, "key")):
                kept["key"] = new_key()
            return str(kept["key"])

    @contextmanager
    def _changing(self) -> Iterator[Json]:
        paths.make_private(self._directory)
        lock = Lock.acquire(os.path.join(self._directory, LOCK), 5.0)
        try:
            kept: Json = paths.read_json(self._path) or {}
            before = json.dumps(kept)
            yield kept
            after = json.dumps(kept)
            if after != before:
                paths.write_atomic(self._path, after.encode(), 0o600, sync=True)
        finally:
            lock.release()


def _subscriptions(kept: object) -> list[Subscription]:
    rows = (
        Subscription(*(lenient.text(row, field) for field in Subscription._fields))
        for row in lenient.mappings(kept, "subscriptions")
    )
    return [each for each in rows if each.endpoint and each.p256dh and each.auth]


def fault_of(endpoint: str, *, private: bool) -> str:
    """Return why nothing may be sent to this address, judging by the address alone; "" if it is
    fine."""
    try:
        parts = urlsplit(endpoint)
        host, _port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return "This is not an address."
    if parts.scheme != "https" or not host or parts.username or parts.password:
        return "A push service has an https address."
    if private:
        return ""
    try:
        good = is_public(host)
    except ValueError:
        good = "." in host and not any(host == end or host.endswith(f".{end}") for end in LOCAL)
    return "" if good else "This address is on this machine or on a private network."


def is_public(address: str) -> bool:
    """Tell whether the address is public. Raises ValueError."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner is not None:
            parsed = inner
        elif parsed in ipaddress.ip_network("64:ff9b::/96"):
            parsed = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
    return parsed.is_global and not parsed.is_multicast
