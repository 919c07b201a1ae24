"""A request that is sent again does its work once: what came of each key is kept for a day.

What is to come of it is written down before it is done: after a crash in between, the same is done,
not another.
"""

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from rookery.core.json import lenient
from rookery.home import paths
from rookery.log.lock import Lock

KEPT = 24 * 3600.0
MOST = 500
"""Results that are kept."""


class KeyReused(Exception):
    """The key came with another request before."""


class Results:
    """What came of work whose request may come again, as long as the daemon lives."""

    def __init__(self) -> None:
        self._known: dict[str, asyncio.Future[Any]] = {}

    async def in_thread[Found](self, key: str, work: Callable[[], Found]) -> Found:
        """For work that blocks."""
        return await self.once(key, lambda: asyncio.to_thread(work))

    async def once[Found](self, key: str, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """It goes on if who asked has gone. Without a key, it is done each time."""
        known = self._known.get(key) if key else None
        if known is None:
            known = asyncio.ensure_future(work())
            if key:
                while len(self._known) >= MOST:
                    del self._known[next(iter(self._known))]
                self._known[key] = known
        found: Found = await asyncio.shield(known)
        return found


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
        now = time.time()
        for entry in os.scandir(self._place):
            with suppress(OSError):
                if abs(now - entry.stat().st_mtime) > KEPT:
                    os.unlink(entry.path)


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
