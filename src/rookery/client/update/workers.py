"""Workers of an older build. Each is put to sleep as soon as it has nothing to do, and the next
prompt starts one of the build then installed. The daemon does this while it runs; without one,
`rookery update` starts this module as a small detached process, which ends with the last such
worker.

A worker of a newer build, or of one whose order is unknown, is left alone."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from rookery.build import NEWER, OLDER, SAME, compare
from rookery.client import waking
from rookery.client.daemon import local as daemon
from rookery.client.start import is_awake
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.tools import terminals
from rookery.core.turn import worker_idle
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.processes import tree

LOCK = "renewal"
EACH = 2.0
"""Seconds between two looks: nothing tells when a worker has nothing left to do."""


def is_older(worker: Json | None) -> bool:
    """Tell whether the worker of a record (worker.json) is of an older build than this process."""
    name = lenient.text(worker, "build")
    return bool(name) and compare(name) == OLDER


def older(home: str) -> list[str]:
    """Return the sessions that are awake in a worker of an older build."""
    sessions = []
    for session in paths.session_ids(home):
        directory = paths.session_dir(home, session)
        worker = paths.read_json(os.path.join(directory, paths.WORKER))
        if is_older(worker) and is_awake(paths.socket_path(directory)):
            sessions.append(session)
    return sessions


def put_to_sleep(home: str, sessions: Iterable[str]) -> list[str]:
    """Put idle sessions to sleep; return those that still have something to do. Blocks."""
    return [session for session in sessions if not _sleeps(home, session)]


def _sleeps(home: str, session: str) -> bool:
    directory = paths.session_dir(home, session)
    worker = paths.read_json(os.path.join(directory, paths.WORKER)) or {}
    with suppress(LogError, OSError):
        with Reader.open(directory) as log:
            free = is_replaceable(log.header(), worker)
        return free and waking.sleeps(directory, "newer")
    return False


def is_replaceable(header: Header, worker: Json) -> bool:
    """Tell whether a session has nothing to do and runs no command left over from a turn, which
    would end with its worker. Earlier builds do not check this themselves."""
    if not worker_idle.is_idle(header):
        return False
    if not terminals.are_running(header):
        return True
    # One whose worker was killed stays open in the log.
    rows = tree.children(lenient.integer(worker, "pid") or 0)
    return not [row for row in rows if not row.dead and row.pid != worker.get("agentPid")]


# ---------------------------------------------------------------- without a daemon


def watch(home: str) -> None:
    """Start the process that waits for busy workers."""
    waking.start_detached("rookery.client.update.workers", home)


def _wait(home: str) -> None:
    while (left := older(home)) and not _is_served(home):
        put_to_sleep(home, left)
        time.sleep(EACH)


def _is_served(home: str) -> bool:
    """Whether a daemon of this build or a newer one does the same."""
    record = daemon.record(home)
    return record is not None and compare(lenient.text(record, "build")) in (SAME, NEWER)


if __name__ == "__main__":
    os._exit(waking.run_detached(sys.argv[1], LOCK, lambda: _wait(sys.argv[1])))
