"""A request that is sent again does its work once: what came of each key is kept for a day.

What is to come of it is written down before it is done: after a crash in between, the same is done,
not another.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from rookery.core.json import lenient
from rookery.home import paths
from rookery.log.lock import Lock

KEPT = 24 * 3600.0


class KeyReused(Exception):
    """The key came with another request before."""


class Keys:
    def __init__(self, home: str) -> None:
        self._place = os.path.join(home, "daemon", "keys")

    def once(
        self, key: str, request: str, name: Callable[[], str], make: Callable[[str], None]
    ) -> str:
        """What `name` gave when the key first came; `make` makes it, unless that was done before.
        Raises KeyReused, and what `make` raises: then the key is free again."""
        with self._held(key) as path:
            found = paths.read_json(path) or {}
            mark = hashlib.sha256(request.encode("utf-8", "surrogatepass")).hexdigest()
            if found and lenient.text(found, "request") != mark:
                raise KeyReused
            made = lenient.text(found, "made") or name()
            if not found.get("done"):
                self._note(path, mark, made, done=False)
                with ExitStack() as undo:
                    undo.callback(os.unlink, path)
                    make(made)
                    undo.pop_all()
                self._note(path, mark, made, done=True)
            return made

    @contextmanager
    def _held(self, key: str) -> Iterator[str]:
        paths.make_private(os.path.dirname(self._place))
        paths.make_private(self._place)
        self._sweep()
        path = os.path.join(self._place, digest(key))
        lock = Lock.acquire(f"{self._place}.lock", 30.0)
        try:
            yield path
        finally:
            lock.release()

    @staticmethod
    def _note(path: str, mark: str, made: str, *, done: bool) -> None:
        row = {"request": mark, "made": made, "done": done}
        paths.write_atomic(path, json.dumps(row).encode("ascii"), 0o600, sync=True)

    def _sweep(self) -> None:
        old = time.time() - KEPT
        for entry in os.scandir(self._place):
            with suppress(OSError):
                if entry.stat().st_mtime < old:
                    os.unlink(entry.path)


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
