"""Which workers do not answer: their sockets take a connection, and then nothing comes."""

import select
import socket
import time
from collections.abc import Iterable
from contextlib import ExitStack

from rookery.home import paths
from rookery.wire import frames

PATIENCE = 2.0
"""Seconds until a worker that says nothing counts as hung."""

QUESTION = frames.encode("hello", {"protocol": 0})
"""Answered with a refusal: a probe does not count as a client."""


def silence(session: str) -> str:
    """What is said to someone who waits for a worker that hangs."""
    return (
        f"The worker of {session} does not respond; still trying. To end it and keep its "
        f"history: rookery stop --now {session}"
    )


def hung(home: str, sessions: Iterable[str], patience: float = PATIENCE) -> set[str]:
    """Those of the sessions that do not answer; all are asked at once."""
    waiting: dict[int, str] = {}
    poll = select.poll()
    with ExitStack() as opened:
        for session in sessions:
            link = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            link.setblocking(False)
            try:
                link.connect(paths.socket_path(paths.session_dir(home, session)))
                link.send(QUESTION)
            except BlockingIOError:  # its queue is full: nobody takes connections from it
                waiting[-1 - len(waiting)] = session
                continue
            except OSError:  # it went to sleep just now
                continue
            waiting[link.fileno()] = session
            poll.register(link, select.POLLIN)
        until = time.monotonic() + patience
        while any(file >= 0 for file in waiting) and (left := until - time.monotonic()) > 0:
            for file, _ in poll.poll(left * 1000):
                poll.unregister(file)
                del waiting[file]
    return set(waiting.values())
