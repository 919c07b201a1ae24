"""The lock that decides who may write a session's log: `flock` on a file made for nothing
else.

The kernel frees it however a process dies, kill -9 included. The rules that make it hold:

- Never the database: closing any descriptor of a SQLite file drops SQLite's own locks
  on it.
- Never unlinked: two processes would hold "the" lock, on two files. If a session was
  deleted and created again, an old holder learns it from `stands()`.
- Close-on-exec: an agent or terminal that outlives its worker does not keep the lock.
- Closed in forked children, with whom the kernel would share it; their `release` does
  nothing."""

import errno
import fcntl
import os
import time

from rookery.log.errors import Busy

LOCK_FILE = "lock"

PAUSE = 0.01
"""Seconds between two tries: a probing reader holds the lock for microseconds."""

NOBODY_COULD = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors of a path that nobody can open, and so nobody holds."""

_held: set[int] = set()
"""Descriptors of this process's locks, for the child that a fork makes."""


class Lock:
    """A held lock. Get one from `acquire`."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._owner = os.getpid()
        _held.add(descriptor)

    @classmethod
    def acquire(cls, path: str, wait: float = 1.0) -> "Lock":
        """Take the lock, trying for `wait` seconds; raises Busy."""
        until = time.monotonic() + wait
        while True:
            descriptor = _try(path)
            if descriptor is not None:
                return cls(path, descriptor)
            if time.monotonic() >= until:
                raise Busy(f"another process is writing to this session ({path} is held)")
            time.sleep(PAUSE)

    def stands(self) -> bool:
        """Return whether the path still names the locked file; if not, another may hold
        "the" lock."""
        return self._descriptor >= 0 and _names(self.path, self._descriptor)

    def release(self) -> None:
        """Free the lock, even if a child shares it. Calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0 or self._owner != os.getpid():
            return
        _held.discard(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)


def is_locked(directory: str) -> bool:
    """Return whether someone writes the session in a directory."""
    return is_held(os.path.join(directory, LOCK_FILE))


def becomes_free(directory: str, wait: float) -> bool:
    """Wait until no one writes the session in a directory; return False if someone still does."""
    until = time.monotonic() + wait
    while is_locked(directory):
        if time.monotonic() >= until:
            return False
        time.sleep(PAUSE)
    return True


def is_held(path: str) -> bool:
    """Return whether someone writes; True also if that is unknown, as in another user's directory.
    This disturbs a starter for microseconds (it retries), a holder never."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return error.errno not in NOBODY_COULD
    try:
        # Shared: two probes do not see each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _try(path: str) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    taken = False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The directory may have been deleted and made anew between the open and the lock.
        taken = _names(path, descriptor)
    except BlockingIOError:
        pass
    finally:
        if not taken:
            os.close(descriptor)
    return descriptor if taken else None


def _names(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _close_in_child() -> None:
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_close_in_child)
