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

from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.home import paths
from rookery.log.lock import Lock

KEPT = 24 * 3600.0
MOST = 500
"""Results that are kept."""


class KeyReused(Fixed):
    """The key came with another request before."""

    reason = "key_reused"

    def __init__(self) -> None:
        super().__init__("This idempotency key came with another request before.")


type Work = Callable[[str, bool], Any]
"""Of an id for what it makes, and whether it was begun before, by a daemon that was killed. Its
result is JSON."""


class Results:
    """What came of work whose request may come again."""

    def __init__(self, home: str) -> None:
        self._known: dict[str, asyncio.Future[Any]] = {}
        self._keys = Keys(home)

    async def kept(self, key: str, request: str, work: Work) -> Any:
        """What came of it when the key first came, also if the daemon was killed since. Without a
        key, it is done each time. It blocks, in a thread. Raises KeyReused."""
        if not key:
            return await self._once("", lambda: asyncio.to_thread(work, paths.new_id(), False))
        known = f"{digest(request)} {key}"
        return await self._once(
            known, lambda: asyncio.to_thread(self._keys.kept, key, request, work)
        )

    async def _once[Found](self, key: str, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """It goes on if who asked has gone."""
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

        def work(made: str, _again: bool) -> str:
            make(made)
            return made

        return str(self.kept(key, request, work, name))

    def kept(
        self, key: str, request: str, work: Work, name: Callable[[], str] = paths.new_id
    ) -> Any:
        """The result of `work` when the key first came."""
        with self._held(key) as path:
            found = paths.read_json(path) or {}
            mark = digest(request)
            if found and lenient.text(found, "request") != mark:
                raise KeyReused
            made = lenient.text(found, "made") or name()
            if found.get("done"):
                return found.get("result", made)  # an earlier build kept only that
            self._note(path, {"request": mark, "made": made, "done": False})
            with ExitStack() as undo:
                undo.callback(os.unlink, path)
                result = work(made, bool(found))
                undo.pop_all()
            self._note(path, {"request": mark, "made": made, "done": True, "result": result})
            return result

    @contextmanager
    def _held(self, key: str) -> Iterator[str]:
        paths.make_private(os.path.dirname(self._place))
        paths.make_private(self._place)
        self._sweep()
        path = os.path.join(self._place, digest(key))
        lock = Lock.acquire(f"{path}.lock", 30.0)  # a merge takes its time, and holds up no other
        try:
            yield path
        finally:
            lock.release()

    @staticmethod
    def _note(path: str, row: Json) -> None:
        paths.write_atomic(path, json.dumps(row).encode("ascii"), 0o600, sync=True)

    def _sweep(self) -> None:
        now = time.time()
        for entry in os.scandir(self._place):
            with suppress(OSError):
                if abs(now - entry.stat().st_mtime) > KEPT:
                    os.unlink(entry.path)


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
