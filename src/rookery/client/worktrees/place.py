"""The location of worktrees: `worktrees/SESSION/` in Rookery's home, with the worktree in it under
the repository's own name, and a record in case a process is killed midway."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.client.worktrees.repository import NoWorktree
from rookery.core.json import Json, dumps
from rookery.home import paths

FOLDER = "worktrees"
RECORD = "worktree.json"
MAKING, MADE = "making", "made"


def folder(home: str, session: str = "") -> str:
    if session and not paths.is_id(session):
        raise paths.PathError(f"{session!r} is not a session id.")
    return os.path.join(home, FOLDER, session) if session else os.path.join(home, FOLDER)


def prepare(home: str, session: str) -> str:
    paths.make_private(folder(home))
    paths.make_private(folder(home, session))
    return folder(home, session)


@contextmanager
def held(home: str, session: str) -> Iterator[None]:
    """Hold the worktree's lock: no other process creates, merges or drops it meanwhile. Raises
    NoWorktree."""
    try:
        file = os.open(folder(home, session), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NoWorktree("no_worktree", f"Session {session} has no worktree.") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"Another command is at work on the worktree of session {session}."
            raise NoWorktree("busy", message, "Try again when it is done.") from None
        yield
    finally:
        os.close(file)


def write(home: str, session: str, record: Json) -> None:
    path = os.path.join(folder(home, session), RECORD)
    paths.write_atomic(path, dumps(record).encode("ascii"), 0o600)


def record(home: str, session: str) -> Json | None:
    return paths.read_json(os.path.join(folder(home, session), RECORD))


def sessions(home: str) -> list[str]:
    try:
        return [name for name in sorted(os.listdir(folder(home))) if paths.is_id(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def erase(path: str) -> None:
    """Delete a directory with everything in it, including what its owner may not write to, such as
    the caches of some tools. Raises OSError."""

    def open_up(_function: object, name: str, error: BaseException) -> None:
        if isinstance(error, FileNotFoundError):
            return
        for each in (os.path.dirname(name), name):
            with suppress(OSError):
                if stat.S_ISDIR(os.lstat(each).st_mode) and each.startswith(path):
                    os.chmod(each, 0o700)

    for _ in range(64):  # each time, one more level can be opened
        shutil.rmtree(path, onexc=open_up)
        if not os.path.lexists(path):
            return
    shutil.rmtree(path)
