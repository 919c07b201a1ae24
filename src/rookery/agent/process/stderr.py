"""A stderr that never blocks, since a client that does not read it must not stop a turn, and that
shows no secrets."""

import os
import select
import threading
from contextlib import suppress

from rookery.models.secrets import KNOWN
from rookery.wire.pipes import private_copy

PIECE = 4096
"""Bytes that a ready pipe takes without blocking."""
LONGEST = 64 * 1024
"""Bytes of a line that are held back until its end."""


def shield() -> None:
    """Send our stderr through a thread that drops what the real one does not take."""
    try:
        real = private_copy(2, os.O_WRONLY)
    except OSError:  # there is none
        return
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, real), daemon=True, name="stderr").start()


def _pass_on(reading: int, real: int) -> None:
    poll = select.poll()
    poll.register(real, select.POLLOUT)
    begun = b""
    while data := os.read(reading, PIECE):
        # By whole lines: a secret may span two pieces.
        whole, newline, begun = (begun + data).rpartition(b"\n")
        if len(begun) > LONGEST:
            whole, begun = whole + newline + begun, b""
        text = KNOWN.text((whole + newline).decode("utf-8", "surrogateescape"))
        _write(poll, real, text.encode("utf-8", "surrogateescape"))
    _write(poll, real, KNOWN.text(begun.decode("utf-8", "replace")).encode())
    os.close(reading)
    os.close(real)


def _write(poll: select.poll, real: int, data: bytes) -> None:
    """As much as it takes now."""
    for start in range(0, len(data), PIECE):
        if any(state & select.POLLOUT for _, state in poll.poll(0)):
            with suppress(OSError):
                os.write(real, data[start : start + PIECE])
