"""Folders for the moment, of processes that may be killed at any time: each has a place in the home
and holds a lock on it. A place that nobody holds is removed by whoever comes next; one without a
lock, where nobody is about to make one: who does holds the folder around it."""

import atexit
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.home import paths
from rookery.log.lock import Lock, is_held

PLACE = "scratch"
TRIES = 20

_places: list[tuple[int, str, Lock]] = []
"""With the process that made each: one that was forked has none of its parent's."""


def folder(home: str, prefix: str) -> str:
    """A new, empty folder of this process. Where the home takes none, it is the system's."""
    import tempfile  # here, as below: a worker only looks whether there is anything to remove

    for _ in range(TRIES):
        try:
            return tempfile.mkdtemp(prefix=prefix, dir=_place(home))
        except FileNotFoundError:
            continue  # another process swept between two steps
        except OSError:
            break
    return tempfile.mkdtemp(prefix=f"rookery-{prefix}")


def _place(home: str) -> str:
    own = next((place for pid, place, _ in _places if pid == os.getpid()), "")
    if os.path.isdir(own):
        return own
    import tempfile

    sweep(home)
    around = os.path.join(home, PLACE)
    with suppress(FileExistsError):
        os.mkdir(around, 0o700)
    with _holding(around, fcntl.LOCK_SH):
        own = tempfile.mkdtemp(prefix="", dir=around)
        # Held for this process's life, if it does not leave before: the kernel frees it, however
        # that ends.
        _places.append((os.getpid(), own, Lock.acquire(os.path.join(own, paths.LOCK))))
    atexit.register(leave)
    return own


def leave() -> None:
    """Remove what this process has, and hold nothing any more."""
    import shutil

    for each in [each for each in _places if each[0] == os.getpid()]:
        _places.remove(each)
        _, place, lock = each
        shutil.rmtree(place, ignore_errors=True)
        lock.release()


def sweep(home: str) -> None:
    """Remove what processes that are gone have left."""
    around = os.path.join(home, PLACE)
    with suppress(OSError), _holding(around, fcntl.LOCK_EX | fcntl.LOCK_NB):
        for name in os.listdir(around):
            place = os.path.join(around, name)
            lock = os.path.join(place, paths.LOCK)
            if not os.path.exists(lock) or not is_held(lock):
                import shutil

                shutil.rmtree(place, ignore_errors=True)
        os.rmdir(around)  # the last one takes it along


@contextmanager
def _holding(directory: str, how: int) -> Iterator[None]:
    """Raises FileNotFoundError where it is not there, BlockingIOError where another holds it."""
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, how)
        yield
    finally:
        os.close(held)
