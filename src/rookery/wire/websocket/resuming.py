"""Connections that outlive their sockets, if both ends are Rookery's.

A client that can resume sends `Rookery-Received: 0` with its first handshake. A server that can,
too, answers with `Rookery-Received` and `Acp-Connection-Id`. From then on both sides count the
messages of the connection and keep those they sent until the other side has confirmed them
(`_rookery/received`, a notification that is not counted). After a break the client reconnects with
the id and the number of messages it has; each side sends what the other lacks. So nothing is lost,
nothing is delivered twice, and open requests stay open."""

from collections.abc import Callable
from typing import Protocol

from rookery.wire.lines import TooLong

RECEIVED = "Rookery-Received"
CONNECTION = "Acp-Connection-Id"

NORMAL, GOING_AWAY, BROKEN = 1000, 1001, 1006
"""Close codes; the last is that of a socket that ended without one."""
BREAKS = frozenset({GOING_AWAY, BROKEN, 1011, 1012, 1013, 1014})
"""Close codes after which a connection may be taken up again; others are meant."""

_CONFIRMS = b'{"jsonrpc":"2.0","method":"_rookery/received","params":{"count":'
EVERY = 32
"""Messages after which they are confirmed."""
EVERY_BYTES = 256 * 1024
LATEST = 5.0
"""Seconds until the last message of a row is confirmed."""
UNCONFIRMED = 64 * 1024 * 1024
"""Bytes that are kept for a side that confirms nothing, before the connection is given up."""


class Carrier(Protocol):
    """The transport of a Peer's messages, other than two descriptors."""

    on_message: Callable[[bytes | TooLong], None]
    on_end: Callable[[], None]

    @property
    def broken(self) -> bool:
        """Whether messages written from now on will never arrive."""

    @property
    def buffered(self) -> int:
        """The bytes that the other side has not taken yet."""

    def write(self, data: bytes) -> None:
        """Write one message, with or without a trailing newline."""

    def flush(self) -> None: ...

    async def drain(self, below: int) -> bool:
        """Wait until less than `below` bytes are buffered. Return False if the connection is
        broken."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None: ...


def confirmation(count: int) -> bytes:
    return _CONFIRMS + str(count).encode() + b"}}"


def confirmed(message: bytes) -> int | None:
    """Return how many messages the other side has; None if this is not a confirmation."""
    if not message.startswith(_CONFIRMS):
        return None
    digits = message[len(_CONFIRMS) : -2]
    return int(digits) if digits.isdigit() and len(digits) < EVERY else None


class Sent:
    """Messages sent or to be sent, from the first unconfirmed one; they are numbered from 1."""

    def __init__(self) -> None:
        self.size = 0
        self.last = 0
        self._kept: dict[int, bytes] = {}

    def add(self, message: bytes) -> None:
        self.last += 1
        self._kept[self.last] = message
        self.size += len(message)

    def get(self, number: int) -> bytes:
        return self._kept[number]

    def confirm(self, count: int) -> bool:
        """Drop the confirmed messages; return False if so many were never sent."""
        if count > self.last:
            return False
        while self._kept and (first := next(iter(self._kept))) <= count:
            self.size -= len(self._kept.pop(first))
        return True

    def has_after(self, count: int) -> bool:
        """Return whether everything after that message is still kept."""
        return self.last - len(self._kept) <= count <= self.last


class Received:
    """Counts the received messages, and decides when to confirm them."""

    def __init__(self) -> None:
        self.count = 0
        self._open = self._bytes = 0

    def take(self, size: int) -> bool:
        """Count a message; return whether it is time to confirm."""
        self.count += 1
        self._open += 1
        self._bytes += size
        return self._open >= EVERY or self._bytes >= EVERY_BYTES

    @property
    def is_open(self) -> bool:
        return self._open > 0

    def confirming(self) -> bytes:
        self._open = self._bytes = 0
        return confirmation(self.count)
