"""Files of a git directory that a plain repository lacks, and that git would obey. A file that does
not exist cannot be mounted over, so they are created, with content that changes nothing.

`commondir` says where settings and hooks are: here, where they are anyway. `config.worktree` has
settings of one work tree: none. They are removed with the last sandbox around them; each sandbox
holds a lock on them until then. A killed worker leaves them, and they do no harm."""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.sandbox.plan import SandboxError

COMMON, SETTINGS = "commondir", "config.worktree"
CONTENT = {COMMON: b".\n", SETTINGS: b""}

_OWN_PLACE = re.compile(rb"^\s*(worktree\s*=|bare\s*=\s*true)", re.MULTILINE | re.IGNORECASE)
"""Settings that git does not obey where there is a `commondir`."""
_LARGEST = 1 << 20
_SECONDS, _EACH = 2.0, 0.02
"""For another sandbox that is just about to remove the file."""


class Held(NamedTuple):
    path: str
    file: int
    """Open, with a lock on it."""


class Placeholders:
    """The placeholders in some git directories. Raises SandboxError."""

    def __init__(self, plain: Iterable[str], of_work_trees: Iterable[str]) -> None:
        """`plain`: whole git directories; `of_work_trees`: parts of one, which have a
        `commondir`."""
        self._held: list[Held] = []
        try:
            for folder in plain:
                if not _has_own_place(folder):
                    self._hold(folder, COMMON)
                self._hold(folder, SETTINGS)
            for folder in of_work_trees:
                self._hold(folder, SETTINGS)
        except SandboxError:
            self.close()
            raise

    def _hold(self, folder: str, name: str) -> None:
        path = os.path.join(folder, name)
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            try:
                _make(path, CONTENT[name])
                file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError as error:
                if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                    return  # nor can the agent
                if error.errno == errno.ENOENT:
                    continue
                raise SandboxError(f"{path} could not be made: {error.strerror}.") from error
            with _closed_unless_kept(file) as keep:
                if is_one(path):
                    if _lock(file, fcntl.LOCK_SH) and _is_still(path, file):
                        keep.append(file)
                        self._held.append(Held(path, file))
                        return
                else:
                    return  # somebody's own: it is read-only inside as it is
            time.sleep(_EACH)
        raise SandboxError(f"{path} is locked by another program. End it, and try again.")

    def close(self) -> None:
        for path, file in self._held:
            if _lock(file, fcntl.LOCK_EX) and _is_still(path, file) and is_one(path):
                with contextlib.suppress(OSError):
                    os.unlink(path)
            os.close(file)
        self._held = []


def is_one(path: str) -> bool:
    """Tell whether a file is a placeholder, with content that changes nothing."""
    content = CONTENT[os.path.basename(path)]
    with contextlib.suppress(OSError), open(path, "rb", opener=_without_links) as file:
        return file.read(len(content) + 1) == content
    return False


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _make(path: str, content: bytes) -> None:
    """Create a file atomically with its whole content, since git may read it at any time. An
    existing file stays. Raises OSError."""
    if os.path.lexists(path):
        return
    fresh = f"{path}.{secrets.token_hex(8)}"
    with open(fresh, "xb") as file:
        file.write(content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        os.unlink(fresh)


def _has_own_place(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "config"), "rb", opener=_without_links) as file:
            return bool(_OWN_PLACE.search(file.read(_LARGEST)))
    except OSError:
        return True


def _lock(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(path: str, file: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.lstat(path), os.fstat(file))
    return False


@contextlib.contextmanager
def _closed_unless_kept(file: int) -> Iterator[list[int]]:
    kept: list[int] = []
    try:
        yield kept
    finally:
        if not kept:
            os.close(file)
