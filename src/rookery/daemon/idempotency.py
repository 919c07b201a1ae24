"""Idempotency keys: a request that is repeated with the same key does its work once; results are
kept for a day.

The id of what the work will make is recorded before the work begins: after a crash in between, the
same thing is made, not another one."""

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
MAX_RESULTS = 500
"""How many results are kept in memory."""


class KeyReused(Fixed):
    """Raised when the key came with another request before."""

    reason = "key_reused"

    def __init__(self) -> None:
        super().__init__("This idempotency key came with another request before.")


type Work = Callable[[str, bool], Any]
"""A function that takes an id for what it makes, and whether it was begun before by a daemon that
was killed. Its result is JSON."""


class Results:
    """The results of work whose requests may be repeated."""

    def __init__(self, home: str) -> None:
        self._known: dict[str, asyncio.Future[Any]] = {}
        self._keys = Keys(home)

    async def kept(self, key: str, request: str, work: Work) -> Any:
        """Return the result of the request that first used this key, even if the daemon was killed
        since. Without a key, the work is done each time. The work may block; it runs in a thread.
        Raises KeyReused."""
        if not key:
            return await self._once("", lambda: asyncio.to_thread(work, paths.new_id(), False))
        known = f"{digest(request)} {key}"
        return await self._once(
            known, lambda: asyncio.to_thread(self._keys.kept, key, request, work)
        )

    async def _once[Outcome](
        self, key: str, work: Callable[[], Coroutine[Any, Any, Outcome]]
    ) -> Outcome:
        """Run the work once per key; it goes on if the caller has gone."""
        known = self._known.get(key) if key else None
        if known is None:
            known = asyncio.ensure_future(work())
            if key:
                while len(self._known) >= MAX_RESULTS:
                    del self._known[next(iter(self._known))]
                self._known[key] = known
        outcome: Outcome = await asyncio.shield(known)
        return outcome


class Keys:
    def __init__(self, home: str) -> None:
        self._place = os.path.join(home, "daemon", "keys")

    def once(
        self, key: str, request: str, name: Callable[[], str], make: Callable[[str], None]
    ) -> str:
        """Return the name that was chosen when the key first came; `make` makes it, unless that was
        done before. Raises KeyReused, and whatever `make` raises, which frees the key again."""

        def work(made: str, _again: bool) -> str:
            make(made)
            return made

        return str(self.kept(key, request, work, name))

    def kept(
        self, key: str, request: str, work: Work, name: Callable[[], str] = paths.new_id
    ) -> Any:
        """Return the result of `work` when the key first came."""
        with self._held(key) as path:
            record = paths.read_json(path) or {}
            mark = digest(request)
            if record and lenient.text(record, "request") != mark:
                raise KeyReused
            made = lenient.text(record, "made") or name()
            if record.get("done"):
                return record.get("result", made)  # an earlier build kept only that
            self._note(path, {"request": mark, "made": made, "done": False})
            with ExitStack() as undo:
                undo.callback(os.unlink, path)
                result = work(made, bool(record))
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
