"""Stderr that never blocks us: a client that does not read it must not stop a turn (acp-T13)."""

import os
import select
import threading

from rookery.wire.pipes import private_copy

PIECE = 4096
"""Bytes: what a pipe that is ready takes without waiting."""


def shield() -> None:
    """Point our stderr at a thread that passes on what the real one takes, and drops the rest."""
    try:
        real = private_copy(2, os.O_WRONLY)
    except OSError:  # we were started without one
        return
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, real), daemon=True, name="stderr").start()


def _pass_on(reading: int, real: int) -> None:
    poll = select.poll()
    poll.register(real, select.POLLOUT)
    while data := os.read(reading, PIECE):
        if any(state & select.POLLOUT for _, state in poll.poll(0)):
            try:
                os.write(real, data)
            except OSError:
                continue
