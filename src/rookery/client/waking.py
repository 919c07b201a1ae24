"""Waking sleeping sessions: a client that leaves something waiting rings the clock (client/clock),
and starts one if there is none. And making room: if no more workers may be awake, the session that
has been idle longest is put to sleep, unless it has something to do."""

import os
import socket as sockets
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from rookery.build import build
from rookery.client import config as client_config
from rookery.core import budgets
from rookery.core.asks import kept_asks
from rookery.core.header import Shown
from rookery.core.json import Json, loads
from rookery.core.turn import rate_limit
from rookery.core.view.fleet import is_hidden, is_judged, is_sound
from rookery.home import paths
from rookery.log.errors import Busy, LogError
from rookery.log.lock import Lock, becomes_free, is_held, is_locked
from rookery.log.reader import Reader
from rookery.processes.lineage import unmarked
from rookery.wire import frames
from rookery.wire.credentials import peer_of

LOCK = "clock"
PIPE = "clock.bell"
"""A pipe with a name: the clock listens there."""


CLOCK = "rookery.client.clock"


def ring(home: str) -> None:
    """Notify the clock that something waits from now on, starting it if there is none."""
    bell = os.path.join(home, paths.SLOTS, PIPE)
    try:
        file = os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # nobody listens
        start_detached(CLOCK, home)
        return
    try:
        with suppress(OSError):
            os.write(file, b"\n")
    finally:
        os.close(file)


def is_left_to_wait(directory: str, outcome: Json) -> bool:
    """Tell whether a command's outcome waits for the clock: a prompt without a free worker, or an
    order to continue after a rate limit while no worker is awake to do so."""
    if outcome.get("placeless") is True:
        return True
    return outcome.get("resumes") is True and not is_locked(directory)


def look_after(home: str, heads: Iterable[Json]) -> None:
    """Start the clock if something waits and it is not running, for example after a reboot. Called
    with every list of sessions."""
    asleep = [head for head in heads if not head["awake"]]
    if is_held(os.path.join(home, paths.SLOTS, LOCK)):
        return
    now = time.time() * 1000
    if any(head.get("waiting") and not is_hidden(head, now) for head in asleep):
        start_detached(CLOCK, home)
        return
    limited = [head["id"] for head in asleep if is_limited(head, now)]
    if any(resumption(home, name) is not None for name in limited):
        start_detached(CLOCK, home)


def resumption(home: str, session: str) -> float | None:
    """Return when a session that hit a rate limit, or a budget, will continue by itself, in
    milliseconds since the epoch; None if it will not."""
    from rookery.home import config, ledger  # a list loads all this only where a session met one

    try:
        settings = client_config.in_force.load(home)
        with Reader.open(paths.session_dir(home, session)) as log:
            header = log.header()
    except (config.ConfigError, LogError, OSError):
        return None
    if ask := budgets.open_ask(header):
        if not ledger.stands(home, header, settings):
            return 0.0
        return ledger.midnight() if budgets.scope_of(ask) == "day" else None
    if kept_asks.away(header):
        return None
    return rate_limit.resume_at(header, settings.policy, time.time() * 1000)


def resume_later(home: str, session: str) -> float | None:
    """Ring the clock for a session that is put to sleep and will continue by itself. Returns when,
    in milliseconds since the epoch."""
    at = resumption(home, session)
    if at is not None:
        ring(home)
    return at


def is_limited(head: Json, now: float) -> bool:
    """Tell whether a session's last prompt hit a rate limit, or a budget."""
    limited = head["rateLimited"] and head["reason"] == "rate_limited"
    return bool((limited or head.get("paused")) and not is_hidden(head, now))


def start_detached(module: str, home: str) -> None:
    """Start a module that forks and exits at once: the process it leaves behind watches the
    home."""
    quiet = subprocess.DEVNULL
    with suppress(OSError):
        subprocess.run(
            [sys.executable, "-P", "-m", module, home],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            cwd="/",
            env=unmarked(),
            check=False,
        )


def run_detached(home: str, lock: str, work: Callable[[], object], *, wait: float = 0.0) -> int:
    """The main function of a module that `start_detached` starts: fork, leave the terminal, and
    work under a lock of the home. Ends at once if another process holds the lock after `wait`
    seconds, or if the home is gone. Returns the exit code."""
    if os.fork():
        return 0
    os.setsid()
    try:
        with suppress(FileExistsError):
            os.mkdir(os.path.join(home, paths.SLOTS), 0o700)
        held = Lock.acquire(os.path.join(home, paths.SLOTS, lock), wait)
    except (Busy, OSError):
        return 0
    try:
        with suppress(OSError, paths.PathError):
            work()
    finally:
        held.release()
    return 0


ANSWERS = 3.0
"""Seconds for a worker to say whether it goes."""

ENDS = 10.0
"""Seconds for it to be gone, with its agent."""


def make_room(home: str, session: str) -> bool:
    """Put one of the other sessions to sleep; return False if none of them can be. Blocks."""
    return any(sleeps(directory, "room") for directory in _idle(home, session))


def _idle(home: str, but: str) -> list[str]:
    """The directories of sessions that are awake with nothing to do, the longest idle first; those
    with a client attached come last."""
    candidates: list[tuple[bool, int, str]] = []
    for name in paths.session_ids(home):
        directory = paths.session_dir(home, name)
        if name == but or not is_locked(directory):
            continue
        head = paths.read_json(os.path.join(directory, paths.HEAD)) or {}
        if is_sound(head) and _has_nothing_to_do(head):
            candidates.append((_is_watched(directory), head["at"], directory))
    return [directory for *_, directory in sorted(candidates)]


def _has_nothing_to_do(head: Json) -> bool:
    return bool(
        head["state"] == "idle"
        and not head["asks"]
        and not head["queue"]
        and not is_judged(Shown(head))
    )


def _is_watched(directory: str) -> bool:
    worker = paths.read_json(os.path.join(directory, paths.WORKER)) or {}
    times = [worker.get(key) for key in ("attached", "detached")]
    attached, detached = (time if isinstance(time, int) else 0 for time in times)
    return attached > detached


def sleeps(directory: str, why: str) -> bool:
    """Ask a worker to stop if it has nothing to do; return whether it has gone and freed its slot.
    `why`: "room", or "newer" for one of an older build than this. Blocks."""
    try:
        agreed = _agrees(paths.socket_path(directory), why)
    except (OSError, ValueError, paths.PathError):  # it is hung, or has gone by itself
        agreed = False
    return agreed and becomes_free(directory, ENDS)


def _agrees(path: str, why: str) -> bool:
    command: Json = {"id": os.urandom(8).hex(), "do": "stop", "idle": True, why: True}
    until = time.monotonic() + ANSWERS
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as link:
        link.settimeout(ANSWERS)
        link.connect(path)
        if peer_of(link)[0] != os.geteuid():
            return False
        link.sendall(frames.hello(build(), "limit", 2**53) + frames.encode("command", command))
        with link.makefile("rb") as lines:
            while time.monotonic() < until and (line := lines.readline(2 * frames.NEWS_BYTES)):
                match frames.kind_and_body(loads(line)):
                    case ("event", {"cause": cause, "update": dict(update)}):
                        if cause == command["id"]:
                            return bool(update.get("sessionUpdate") == "_agent")
                    case ("refused", _):
                        return False
    return True  # the connection ended: with the worker, or its lock says otherwise
