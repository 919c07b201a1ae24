"""Reacts to a full disk: the oldest session in the trash is deleted to make room, and this
session's log says so."""

import os
import threading
import time
from collections.abc import Callable

from rookery.home import paths
from rookery.log.errors import Full, StoreError

NEWS = 60.0
"""Seconds after which nothing more is heard of it."""


class Space:
    def __init__(self, home: str, tell: Callable[[str], object]) -> None:
        self._home = home
        self._tell = tell
        self._full = False
        self._until = 0.0

    def look(self, trouble: StoreError | None) -> None:
        """Check the outcome of a write; called after every attempt."""
        if isinstance(trouble, Full) and not self._full:
            self._until = time.monotonic() + NEWS
            threading.Thread(target=self._make, daemon=True).start()
        self._full = isinstance(trouble, Full)
        if trouble is None and time.monotonic() < self._until:
            self._say()

    def _make(self) -> None:
        if os.path.isdir(paths.trash(self._home)) and os.listdir(paths.trash(self._home)):
            from rookery.client.trash import emptying  # seldom, and not small

            emptying.start(self._home)

    def _say(self) -> None:
        if os.path.exists(os.path.join(paths.trash(self._home), "early.json")):
            from rookery.client.trash import emptying

            for text in emptying.untold(self._home):
                self._tell(text)
