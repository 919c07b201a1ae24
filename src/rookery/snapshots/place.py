"""Reads and replaces a file of a directory by its path, without leaving the directory.

Each folder on the way is opened without following links, so that nothing that an agent puts there
leads elsewhere, not even during the operation."""

import ctypes
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NamedTuple

from rookery.snapshots import same_file

FILE, LINK, ABSENT = "file", "link", ""
LARGEST = 32 * 1024 * 1024
"""Bytes of a file that is replaced: it is kept first."""
HASHED = 4 * 1024 * 1024
"""A larger file is known by its size and time."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


_EXCHANGE = 2
_renameat2: Any = getattr(ctypes.CDLL(None), "renameat2", None)
"""The function of glibc and musl; None elsewhere."""


class Outside(Exception):
    """A path that leads out of the directory, or to something that is neither file nor link."""


class Content(NamedTuple):
    """The content of a path."""

    kind: str
    mode: int = 0
    """Its permissions."""
    data: bytes = b""
    """Of a link: where it leads."""


NOTHING = Content(ABSENT)


def read(cwd: str, path: str, most: int = LARGEST) -> Content:
    """Read the content of a path. Raises Outside, and OSError if it is larger than `most` or
    unreadable."""
    try:
        with _folder(cwd, path) as (folder, name):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(state.st_mode):
                return Content(LINK, 0, os.fsencode(os.readlink(name, dir_fd=folder)))
            with _opened(folder, name) as file:
                data = file.read(most + 1)
            if len(data) > most:
                raise OSError(errno.EFBIG, "the file is too large", path)
            return Content(FILE, stat.S_IMODE(state.st_mode), data)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING


def digest(cwd: str, path: str) -> str:
    """Return a digest that differs for each content that a file had; "" if it has none."""
    try:
        with _folder(cwd, path) as (folder, name):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(state.st_mode) and state.st_size > HASHED:
                seen = (state.st_size, state.st_mtime_ns, state.st_ino, state.st_mode)
                return _sum("large", 0, repr(seen).encode())
        content = read(cwd, path, HASHED)
    except (FileNotFoundError, NotADirectoryError):
        content = NOTHING
    except (Outside, OSError, ValueError):
        return ""
    return digest_of(content)


def digest_of(content: Content) -> str:
    return _sum(content.kind, content.mode & stat.S_IXUSR, content.data)


def _sum(kind: str, mode: int, data: bytes) -> str:
    return hashlib.sha256(b"%b %d " % (kind.encode(), mode) + data).hexdigest()[:32]


def write(cwd: str, path: str, content: Content, *, durable: bool = True) -> None:
    """Write the content, all of it or nothing, under the same name. `durable`: even if the power
    fails right now, except for a file with several names. Raises Outside, OSError."""
    with _folder(cwd, path, make=content.kind != ABSENT) as (folder, name):
        _check(folder, name)
        if content.kind == ABSENT:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            return
        is_file = content.kind == FILE
        if is_file and same_file.overwrite(folder, name, content.data, content.mode & 0o777):
            return
        fresh = f".rookery-{secrets.token_hex(8)}"
        try:
            if content.kind == LINK:
                os.symlink(os.fsdecode(content.data), fresh, dir_fd=folder)
            else:
                with open(os.open(fresh, _NEW, 0o600, dir_fd=folder), "wb") as file:
                    file.write(content.data)
                    file.flush()
                    same_file.give(file.fileno(), folder, name)
                    os.fchmod(file.fileno(), content.mode & 0o777)
                    if durable:
                        os.fsync(file.fileno())
            if durable or not _exchanged(folder, fresh, name):
                os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
            raise


def _exchanged(folder: int, fresh: str, name: str) -> bool:
    """Swap both names at once, then delete the old file. A rename onto it would have the same
    effect, but ext4 writes the new one to disk first: two milliseconds for each."""
    if _renameat2 is None:
        return False
    names = (os.fsencode(each) for each in (fresh, name))
    if _renameat2(folder, next(names), folder, next(names), _EXCHANGE) != 0:
        return False
    os.unlink(fresh, dir_fd=folder)
    return True


def make_folder(cwd: str, path: str) -> None:
    """Create a folder. Raises Outside, and OSError if something else is there."""
    with _folder(cwd, path, make=True) as (folder, name), suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    if not is_folder(cwd, path):
        raise Outside(f"{path[:200]!r} is not a folder.")


def drop_folder(cwd: str, path: str) -> bool:
    """Remove a folder if it is empty; return whether it was. Anything else stays. Raises
    Outside."""
    with suppress(OSError), _folder(cwd, path) as (folder, name):
        os.rmdir(name, dir_fd=folder)
        return True
    return False


def is_folder(cwd: str, path: str) -> bool:
    with suppress(Outside, OSError), _folder(cwd, path) as (folder, name):
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def folders_in(cwd: str, path: str) -> list[str]:
    """Return the names in a folder, if all of them are folders themselves. Raises Outside,
    OSError."""
    with _folder(cwd, f"{path}/x") as (folder, _), os.scandir(folder) as entries:
        children = list(entries)
        if not all(each.is_dir(follow_symlinks=False) for each in children):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        return [each.name for each in children]


def is_empty(cwd: str, path: str) -> bool:
    """Tell whether the path is an empty folder."""
    with suppress(Outside, OSError):
        return not folders_in(cwd, path)
    return False


def _check(folder: int, name: str) -> None:
    """Raise Outside if the path is neither file nor link."""
    with suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise Outside(f"{name} is neither a file nor a link.")


@contextmanager
def _opened(folder: int, name: str) -> Iterator[BinaryIO]:
    with open(os.open(name, _READ, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Outside(f"{name} is not a regular file.")
        yield file


@contextmanager
def _folder(cwd: str, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the path's folder, opened, and the name in it."""
    *folders, name = path.split("/")
    for each in (*folders, name):
        if each in ("", ".", "..") or "\0" in each or each.lower() == ".git":
            raise Outside(f"{path[:200]!r} is not a path of the directory.")
    at = os.open(cwd, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for each in folders:
            try:
                inner = _entered(at, each, path)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(each, dir_fd=at)
                inner = _entered(at, each, path)
            os.close(at)
            at = inner
        yield at, name
    finally:
        os.close(at)


def _entered(at: int, name: str, path: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=at)
    except OSError as error:
        if error.errno == errno.ELOOP or (
            error.errno == errno.ENOTDIR
            and stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
        ):
            raise Outside(f"{path[:200]!r} leads through a link.") from error
        raise
