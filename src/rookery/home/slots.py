"""Limiting how many workers may run and start at once, by slots that the kernel frees when a
process dies. A worker holds one for its life; the process that starts it holds another until it is
ready."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.core.limits import Policy
from rookery.home import config, paths
from rookery.log.errors import FAULTS, Busy
from rookery.log.lock import Lock

PAUSE = 0.01
"""Seconds between two attempts to take a slot."""


class Full(Exception):
    """No slot became free in time; there are `most` slots."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Unusable(Exception):
    """The slots' directory cannot be used."""


def for_worker(home: str, policy: Policy) -> Lock | None:
    """Take the slot of a worker; return None if all are taken."""
    return _take(home, "worker", max(1, policy.max_workers))


@contextmanager
def for_start(home: str, deadline: float) -> Iterator[None]:
    """Hold a slot while a worker starts, after waiting for a free one. Raises Full."""
    most = _most_starts(home)
    while (slot := _take(home, "start", most)) is None:
        if time.monotonic() >= deadline:
            raise Full(most)
        time.sleep(PAUSE)
    try:
        yield
    finally:
        slot.release()


def _most_starts(home: str) -> int:
    try:
        policy = config.load(home).policy
    except config.ConfigError:  # the worker reports it
        policy = Policy()
    return min(max(1, policy.max_cold_starts), max(1, policy.max_workers))


def _take(home: str, kind: str, most: int) -> Lock | None:
    directory = os.path.join(home, paths.SLOTS)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        for number in range(most):
            with suppress(Busy):
                return Lock.acquire(os.path.join(directory, f"{kind}-{number}"), wait=0)
    except OSError as error:
        fault = FAULTS.get(error.errno or 0, error.strerror)
        raise Unusable(f"{directory}: {fault}") from error
    return None
