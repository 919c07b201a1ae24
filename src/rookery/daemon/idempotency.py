"""A request that is sent again does its work once: what came of each key is kept for a day."""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress

from rookery.home import paths
from rookery.log.lock import Lock

KEPT = 24 * 3600.0


class Keys:
    def __init__(self, home: str) -> None:
        self._place = os.path.join(home, "daemon", "keys")

    def once(self, key: str, make: Callable[[], str]) -> tuple[str, bool]:
        """What `make` gives, and whether it was called now. Without a key: always."""
        if not key:
            return make(), True
        paths.make_private(os.path.dirname(self._place))
        paths.make_private(self._place)
        self._sweep()
        path = os.path.join(self._place, hashlib.sha256(key.encode()).hexdigest())
        lock = Lock.acquire(f"{path}.lock", 30.0)
        try:
            with suppress(FileNotFoundError), open(path, encoding="ascii") as file:
                return file.read(), False
            made = make()
            paths.write_atomic(path, made.encode("ascii"), sync=True)
            return made, True
        finally:
            lock.release()

    def _sweep(self) -> None:
        old = time.time() - KEPT
        for entry in os.scandir(self._place):
            with suppress(OSError):
                if entry.stat().st_mtime < old:
                    os.unlink(entry.path)
