"""Finds workers that hang: their sockets accept a connection, but no answer comes."""

import select
import socket
import time
from collections.abc import Iterable
from contextlib import ExitStack

from rookery.home import paths
from rookery.wire import frames

HUNG_AFTER = 2.0
"""Seconds until a worker that does not answer counts as hung."""

QUESTION = frames.encode("hello", {"protocol": 0})
"""Answered with a refusal: a probe does not count as a client."""


def silence(session: str) -> str:
    """Return the message for someone who waits for a worker that hangs."""
    return (
        f"The worker of {session} does not respond; still trying. To end it and keep its "
        f"history: rookery stop --now {session}"
    )


def hung(home: str, sessions: Iterable[str], patience: float = HUNG_AFTER) -> set[str]:
    """Return those of the sessions that do not answer; all are asked at once."""
    return Asked(home, sessions).silent(patience)


class Asked:
    """Workers that have been asked for a sign of life; they answer while the caller does something
    else."""

    def __init__(self, home: str, sessions: Iterable[str]) -> None:
        self._waiting: dict[int, str] = {}
        self._poll = select.poll()
        self._opened = ExitStack()
        self._began = time.monotonic()
        for session in sessions:
            self._ask(session, paths.socket_path(paths.session_dir(home, session)))

    def _ask(self, session: str, path: str) -> None:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.setblocking(False)
        try:
            link.connect(path)
            link.send(QUESTION)
        except BlockingIOError:  # its queue is full: nobody takes connections from it
            self._waiting[-1 - len(self._waiting)] = session
            link.close()
        except OSError:  # it sleeps
            link.close()
        else:
            self._opened.enter_context(link)
            self._waiting[link.fileno()] = session
            self._poll.register(link, select.POLLIN)

    def silent(self, patience: float = HUNG_AFTER) -> set[str]:
        """Return those that have not answered within that time. May be called once."""
        until = self._began + patience
        with self._opened:
            while any(file >= 0 for file in self._waiting):
                left = max(0.0, until - time.monotonic())
                answered = self._poll.poll(left * 1000)
                if not answered and not left:
                    break
                for file, _ in answered:
                    self._poll.unregister(file)
                    del self._waiting[file]
        return set(self._waiting.values())
