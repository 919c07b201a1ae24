"""A place for one more worker: where no more may be awake, the session that has been idle longest
is put to sleep, unless it says that it has something to do. Its next prompt wakes it."""

import os
import socket as sockets
import time

from rookery.build import build
from rookery.core.json.events import Json, loads
from rookery.core.view.fleet import is_judged, is_sound
from rookery.home import paths
from rookery.log.lock import becomes_free, is_locked
from rookery.wire import frames
from rookery.wire.credentials import peer_of

ANSWERS = 3.0
"""Seconds for a worker to say whether it goes."""

ENDS = 10.0
"""Seconds for it to be gone, with its agent."""


def make_room(home: str, session: str) -> bool:
    """Put one of the others to sleep; False: none of them can be. Blocks."""
    return any(_sleeps(directory) for directory in _idle(home, session))


def _idle(home: str, but: str) -> list[str]:
    """The directories of sessions that are awake with nothing to do, the longest idle first; those
    with a client attached come last."""
    found: list[tuple[bool, int, str]] = []
    for name in paths.session_ids(home):
        directory = paths.session_dir(home, name)
        if name == but or not is_locked(directory):
            continue
        head = paths.read_json(os.path.join(directory, paths.HEAD)) or {}
        if is_sound(head) and _has_nothing_to_do(head):
            found.append((_is_watched(directory), head["at"], directory))
    return [directory for *_, directory in sorted(found)]


def _has_nothing_to_do(head: Json) -> bool:
    return bool(
        head["state"] == "idle" and not head["asks"] and not head["queue"] and not is_judged(head)
    )


def _is_watched(directory: str) -> bool:
    worker = paths.read_json(os.path.join(directory, paths.WORKER)) or {}
    times = [worker.get(key) for key in ("attached", "detached")]
    attached, detached = (time if isinstance(time, int) else 0 for time in times)
    return attached > detached


def _sleeps(directory: str) -> bool:
    """Ask one to stop; whether it has gone, and its place with it."""
    try:
        agreed = _agrees(paths.socket_path(directory))
    except (OSError, ValueError, paths.PathError):  # it is hung, or has gone by itself
        agreed = False
    return agreed and becomes_free(directory, ENDS)


def _agrees(path: str) -> bool:
    command: Json = {"id": os.urandom(8).hex(), "do": "stop", "idle": True, "room": True}
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
