"""Limits how many connections the daemon has open at once, and chooses which one is closed
when there is one too many.

A new connection is always accepted; otherwise idle connections, which cost nothing to
make, would keep everybody out. In exchange one is closed, in this order:

  1. the oldest that has shown no credential, from the network that has most of them;
  2. if known clients have nearly all places: the one of these that was idle for longest.

So a logged-in client loses no connection to strangers, and a stranger stays long enough
to log in."""

import logging
import resource
from collections.abc import Callable

from rookery.daemon.access.lockout import network

MAX_CONNECTIONS = 1000
MAX_LOCAL = 100
"""On the daemon's own sockets: counted apart, for no crowd elsewhere may keep its owner out."""
NEWCOMERS = 64
"""Places that those who are known leave to others."""
OPEN_FILES = 8192
"""The soft limit that is asked for. Not the hard one, which processes that we start would inherit:
some close every file up to it."""
LEAST = 8
RESERVED = 256
"""Open files for everything but connections: logs, sockets of workers, pipes."""


class Guest:
    """A connection, from the moment it is accepted."""

    def __init__(self, address: str) -> None:
        self.network = network(address)
        self.drop: Callable[[], object] = lambda: None
        """Ends it."""
        self.is_known: Callable[[], bool] = lambda: False
        """Whether one of its requests came from somebody who is logged in."""


class Room:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._strangers: dict[str, dict[Guest, None]] = {}
        self._known: dict[Guest, None] = {}
        """Quiet for longest first."""
        self._count = 0

    def enter(self, guest: Guest) -> None:
        self._strangers.setdefault(guest.network, {})[guest] = None
        self._count += 1
        if self._count > self._limit:
            self._make_room()

    def heard(self, guest: Guest) -> None:
        """Note that a connection sent another request."""
        if guest in self._known:
            self._known[guest] = self._known.pop(guest)

    def leave(self, guest: Guest) -> None:
        """Forget a connection. Calling it twice is harmless."""
        if guest in self._known:
            del self._known[guest]
        elif not self._forget(guest):
            return
        self._count -= 1

    def _make_room(self) -> None:
        """Close the connection that matters least."""
        leaving = self._least_known()
        if leaving is not None:
            self.leave(leaving)
            leaving.drop()

    def shrink(self) -> None:
        """Lower the limit because no more files can be opened, and close connections to meet it."""
        self._limit = max(LEAST, self._count * 3 // 4)
        while self._count > self._limit:
            self._make_room()

    def _least_known(self) -> Guest | None:
        while self._strangers:
            crowd = max(self._strangers.values(), key=len)
            oldest = next(iter(crowd))
            if not oldest.is_known():
                if len(self._known) <= self._limit - min(NEWCOMERS, self._limit // 2):
                    return oldest
                break
            self._forget(oldest)
            self._known[oldest] = None
        return next(iter(self._known), None)

    def _forget(self, guest: Guest) -> bool:
        crowd = self._strangers.get(guest.network, {})
        if guest not in crowd:
            return False
        del crowd[guest]
        if not crowd:
            del self._strangers[guest.network]
        return True


def raise_limit() -> int:
    """Raise this process's limit of open files; return how many connections that leaves room
    for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (OSError, ValueError) as error:
            logging.getLogger("rookery.daemon").warning("open files: %s", error)
    files = OPEN_FILES if soft == resource.RLIM_INFINITY else soft
    return min(MAX_CONNECTIONS, files - min(RESERVED, files // 2))
