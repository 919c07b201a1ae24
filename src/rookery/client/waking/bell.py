"""The way to the clock that wakes sleeping sessions (client/clock): a client that leaves something
to wait rings it, and starts one where there is none."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from rookery.core.json.events import Json
from rookery.core.view.fleet import is_hidden
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.lock import is_held
from rookery.log.reader import Reader
from rookery.processes.lineage import unmarked

LOCK = "clock"
PIPE = "clock.bell"
"""A pipe with a name: the clock listens there."""


def ring(home: str) -> None:
    """Something waits from now on: the clock looks, and is started where there is none."""
    bell = os.path.join(home, paths.SLOTS, PIPE)
    try:
        file = os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # nobody listens
        _start(home)
        return
    try:
        with suppress(OSError):
            os.write(file, b"\n")
    finally:
        os.close(file)


def look_after(home: str, heads: Iterable[Json]) -> None:
    """Called with every list of sessions, so that what waits is not forgotten after a reboot, or
    when the clock was ended."""
    asleep = [head for head in heads if not head["awake"]]
    if is_held(os.path.join(home, paths.SLOTS, LOCK)):
        return
    now = time.time() * 1000
    if any(head.get("waiting") and not is_hidden(head, now) for head in asleep):
        _start(home)
        return
    limited = [head["id"] for head in asleep if is_limited(head, now)]
    if limited and any(resumption(home, name) for name in limited):
        _start(home)


def resumption(home: str, session: str) -> float | None:
    """When a session that met a rate limit is to go on by itself; milliseconds of the epoch."""
    from rookery.client.config import in_force
    from rookery.core.asks import kept_asks
    from rookery.core.turn import rate_limit
    from rookery.home import config  # a list loads all this only where a session met one

    try:
        policy = in_force.load(home).policy
        if not policy.rate_limit_auto_resume:
            return None
        with Reader.open(paths.session_dir(home, session)) as log:
            header = log.header()
    except (config.ConfigError, LogError, OSError):
        return None
    return None if kept_asks.away(header) else rate_limit.resume_at(header, policy)


def resume_later(home: str, session: str) -> float | None:
    """Of a session that is put to sleep: where it is to continue by itself, the clock sees to it.
    When, in milliseconds of the epoch."""
    at = resumption(home, session)
    if at is not None:
        ring(home)
    return at


def is_limited(head: Json, now: float) -> bool:
    """Whether a session's last prompt met a rate limit."""
    return bool(
        head["rateLimited"] and head["reason"] == "rate_limited" and not is_hidden(head, now)
    )


def _start(home: str) -> None:
    import subprocess

    quiet = subprocess.DEVNULL
    with suppress(OSError):
        subprocess.run(  # it forks and ends at once
            [sys.executable, "-P", "-m", "rookery.client.clock", home],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            cwd="/",
            env=unmarked(),
            check=False,
        )
