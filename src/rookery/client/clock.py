"""Wakes sleeping sessions that have something to do: those whose prompt waits for a free worker,
and those that hit a rate limit, once it is lifted.

A small detached process, one per home, that runs only while something waits. It is started by a
client that leaves something waiting, or by one that lists the sessions and finds it missing. It
decides nothing: a worker that it starts reads in its log what is to be done."""

import os
import select
import sys
import time
from contextlib import suppress

from rookery.client.fleet import heads
from rookery.client.start import STARTING, TOO_MANY, StartError, reach_worker
from rookery.client.waking import (
    LOCK,
    PIPE,
    is_limited,
    make_room,
    resumption,
    run_detached,
)
from rookery.core.view.fleet import is_hidden
from rookery.home import paths

LOOK = 1.0
"""Seconds between two looks for a place: nothing tells when one comes free."""

REST = 20
"""Times as long as a look takes, between two: in a large home they cost."""

MAX_INTERVAL = 60.0
"""Most seconds between two looks at the wall clock, which runs on while the machine sleeps."""

TRIES = 5
"""To wake a session whose worker does not start."""


type Due = tuple[float, str]
"""When, in milliseconds of the epoch, and which session."""


class Clock:
    def __init__(self, home: str) -> None:
        self._home = home
        self._failed: dict[str, int] = {}
        """How often the worker of a session did not start."""

    def run(self) -> None:
        """Run until nothing is left to wait for."""
        while True:
            bell = _listen(os.path.join(self._home, paths.SLOTS, PIPE))
            try:
                while (due := self._due()) is not None:
                    _await_ring(bell, due)
            finally:
                os.close(bell)
            if self._due() is None:  # else the bell rang just before we stopped listening
                return

    def _due(self) -> float | None:
        """Wake what is due; return the seconds until the next look, or None if nothing waits."""
        began, now = time.monotonic(), time.time() * 1000
        known = heads(self._home)
        awake = {head["id"] for head in known if head["awake"]}
        waiting: list[Due] = [
            (head["at"], head["id"])
            for head in known
            if head.get("waiting") and not head["asks"] and not is_hidden(head, now)
            if not head["awake"]
        ]
        # Those awake, too: one that was told to stop may take a moment for it.
        limited = [head["id"] for head in known if is_limited(head, now)]
        resumptions = [
            (at, name) for name in limited if (at := resumption(self._home, name)) is not None
        ]
        due = [*sorted(waiting), *sorted(resumptions)]
        due = [(at, name) for at, name in due if self._failed.get(name, 0) < TRIES]
        if not due:
            return None
        took = time.monotonic() - began
        for at, name in due:
            if at <= now and name not in awake and not self._woken(name):
                break  # no place for it, and none for those that came later
        soonest = min(max(0.0, at - time.time() * 1000) / 1000 for at, _ in due)
        return min(MAX_INTERVAL, max(LOOK, soonest, REST * took))

    def _woken(self, session: str) -> bool:
        """Return False if no more workers may be awake now."""
        while True:
            try:
                reach_worker(self._home, session)
            except StartError as error:
                if error.reason == TOO_MANY and make_room(self._home, session):
                    continue
                if error.reason in (TOO_MANY, STARTING):
                    return False
                self._failed[session] = self._failed.get(session, 0) + 1
            return True


def _listen(path: str) -> int:
    with suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    # For writing, too: else it is at its end whenever a writer has gone.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _await_ring(bell: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(bell, select.POLLIN)
    if poll.poll(seconds * 1000):
        with suppress(BlockingIOError):
            os.read(bell, 4096)


if __name__ == "__main__":
    os._exit(run_detached(sys.argv[1], LOCK, Clock(sys.argv[1]).run, wait=1.0))
