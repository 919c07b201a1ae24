"""Syncs files to disk in the background. Each was written whole and then renamed, which survives a
kill of ours; a power failure is survived from `settle` on, for which the end of a turn waits. A
sync takes milliseconds, and a step of the agent writes several files."""

import os
import threading
from contextlib import suppress


class Behind:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        """The latest."""
        self._runs = False

    def sync(self, path: str) -> None:
        """Sync soon, in a thread that ends with the work: the warm process must have none."""
        with self._lock:
            self._paths[path] = None
            if not self._runs:
                self._runs = True
                self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Block until every file is synced, and the thread has ended."""
        joined = None
        while self._thread is not joined:
            joined = self._thread
            if joined is not None:
                joined.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                paths = list(self._paths)
                self._paths.clear()
                if not paths:
                    self._runs = False
                    return
            for path in paths:
                with suppress(OSError):  # removed since
                    flush(path)


def flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_behind = Behind()
sync, settle = _behind.sync, _behind.settle
