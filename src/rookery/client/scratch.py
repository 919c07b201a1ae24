"""Folders for the moment, of processes that may be killed at any time: each has a place in the home
and holds a lock on it. A place that nobody holds is removed by whoever comes next."""

import atexit
import os
import threading
from contextlib import suppress

from rookery import paths
from rookery.log.errors import Busy
from rookery.log.lock import Lock, is_held

PLACE = "scratch"

_places: dict[int, tuple[str, Lock]] = {}
"""By process: one that was forked has none of its parent's."""
_making = threading.Lock()


def folder(home: str, prefix: str) -> str:
    """A new, empty folder of this process. Where the home takes none, it is the system's."""
    import tempfile  # here, as below: a worker only looks whether there is anything to remove

    try:
        return tempfile.mkdtemp(prefix=prefix, dir=_place(home))
    except OSError:
        return tempfile.mkdtemp(prefix=f"rookery-{prefix}")


def _place(home: str) -> str:
    with _making:  # a shell and an editor may be made at once
        own, _ = _places.get(os.getpid(), ("", None))
        return own if os.path.isdir(own) else _make(home)


def _make(home: str) -> str:
    import tempfile

    sweep(home)
    around = os.path.join(home, PLACE)
    with suppress(FileExistsError):
        os.mkdir(around, 0o700)
    own = tempfile.mkdtemp(prefix="", dir=around)
    # Held for this process's life: the kernel frees it, however that ends.
    _places[os.getpid()] = own, Lock.acquire(os.path.join(own, paths.LOCK))
    atexit.register(leave)
    return own


def leave() -> None:
    """Remove this process's place before it ends: a warm process forks with no file open."""
    own, lock = _places.pop(os.getpid(), ("", None))
    if lock is not None:
        import shutil

        lock.release()
        shutil.rmtree(own, ignore_errors=True)


def sweep(home: str) -> None:
    """Remove what processes that are gone have left."""
    around = os.path.join(home, PLACE)
    with suppress(OSError):
        for name in os.listdir(around):
            place = os.path.join(around, name)
            lock = os.path.join(place, paths.LOCK)
            if os.path.exists(lock) and not is_held(lock):
                import shutil

                shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError, Busy):
            os.rmdir(around)  # the last one takes it along
