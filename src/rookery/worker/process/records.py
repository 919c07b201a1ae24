"""The files in which a worker describes itself: they inform lists and the post-mortem, and decide
nothing."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from rookery.build import build
from rookery.core.header import Header
from rookery.core.json import Event, Json, dumps
from rookery.core.view import doing
from rookery.core.view.fleet import head_of
from rookery.home import paths
from rookery.processes import MARK, tree

SKIPPED = ("seq", "at")
"""Fields of a head that change with each event and are not worth a write by themselves."""


class Records:
    def __init__(self, directory: str, worker: Json) -> None:
        self._directory = directory
        self._worker = worker
        self._head: Json = {}
        self._doing = doing.Doing()

    def hear(self, events: Iterable[Event], cwd: str) -> None:
        """Note what the session does now, which no header has."""
        for event in events:
            self._doing = doing.after(self._doing, event.update, cwd)

    def note(self, **fields: object) -> None:
        """Change worker.json."""
        self._worker |= fields
        self._write(paths.WORKER, self._worker)

    def show(self, header: Header, seq: int, at: int, *, force: bool = False) -> None:
        """Update head.json if a list would show something else."""
        head = head_of(header, seq, at)
        if header.state != "idle":
            head["doing"] = head["doing"] or self._doing.text
        shown = {key: value for key, value in head.items() if key not in SKIPPED}
        if not force and shown == self._head:
            return
        if self._write(paths.HEAD, head):
            self._head = shown
            return
        # A full disk, or no descriptor left. The next event tries again; until then no list shows
        # what is no longer true: without the file, it is made from the log.
        self._head = {}
        with suppress(OSError):
            os.unlink(os.path.join(self._directory, paths.HEAD))

    def _write(self, name: str, value: Json) -> bool:
        """Write a file; return whether that worked. A failure holds nothing up: files only
        inform."""
        data = dumps(value).encode("ascii")
        try:
            paths.write_atomic(os.path.join(self._directory, name), data, 0o600)
        except OSError:
            return False
        return True


def about_worker(socket: str) -> Json:
    """Return the initial content of worker.json."""
    own, warden = os.getpid(), os.getppid()
    return {
        "pid": own,
        "start": tree.start_time(own),
        "warden": warden,
        "wardenStart": tree.start_time(warden),
        "mark": os.environ.get(MARK, ""),
        "socket": socket,
        "build": build(),
        "started": wall_clock(),
        "attached": 0,
        "detached": 0,
    }


def wall_clock() -> int:
    return time.time_ns() // 1_000_000
