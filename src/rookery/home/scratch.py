"""Temporary folders of processes that may be killed at any time: each process has a directory in
the home and holds a lock on it. A directory without a held lock is removed by the next process. A
process that is creating its lock holds the directory around it."""

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
"""Each with the process that made it: a forked one does not own its parent's."""


def folder(home: str, prefix: str) -> str:
    """Create a new, empty folder; if the home cannot be written to, in the system's."""
    import tempfile  # here, as below: a worker usually needs none of it

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
        # Held until this process leaves or ends: the kernel frees it then.
        _places.append((os.getpid(), own, Lock.acquire(os.path.join(own, paths.LOCK))))
    atexit.register(leave)
    return own


def leave() -> None:
    """Remove the folders of this process and release its locks."""
    import shutil

    for each in [each for each in _places if each[0] == os.getpid()]:
        _places.remove(each)
        _, place, lock = each
        shutil.rmtree(place, ignore_errors=True)
        lock.release()


def sweep(home: str) -> None:
    """Remove what ended processes have left."""
    around = os.path.join(home, PLACE)
    with suppress(OSError), _holding(around, fcntl.LOCK_EX | fcntl.LOCK_NB):
        for name in os.listdir(around):
            place = os.path.join(around, name)
            lock = os.path.join(place, paths.LOCK)
            if not os.path.exists(lock) or not is_held(lock):
                import shutil

                shutil.rmtree(place, ignore_errors=True)
        os.rmdir(around)  # if it is empty


@contextmanager
def _holding(directory: str, how: int) -> Iterator[None]:
    """Hold a lock on a directory. Raises FileNotFoundError, and BlockingIOError if another process
    holds it."""
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, how)
        yield
    finally:
        os.close(held)
