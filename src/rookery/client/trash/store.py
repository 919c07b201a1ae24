"""The contents of the trash, and how a session gets in and out: by renames, which need no space.

`trash/TIME-SESSION` of Rookery's home is the session's directory as it was, and
`trash/TIME-SESSION.worktree` the folder of its worktree. `TIME-SESSION.deleted` is a session that
is being deleted permanently. Builds that know no trash do not look there.

Whoever moves something holds a lock on the folder. A process killed midway leaves a worktree
without its session beside it: `mend` moves it back."""

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from rookery.client.trash import branch
from rookery.client.worktrees import own_git, place
from rookery.client.worktrees.repository import NoWorktree
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.home import paths
from rookery.log.lock import Lock

WORKTREE, DELETED = ".worktree", ".deleted"
KEPT = 14 * 24 * 3600 * 1000
"""Milliseconds until it is deleted permanently."""

_NAME = re.compile(r"(\d{13})-(.+)")


class TrashError(Refused):
    """Nothing was moved."""


class Entry(NamedTuple):
    home: str
    name: str
    session: str
    at: int
    """When it was removed, in milliseconds of the epoch."""

    @property
    def directory(self) -> str:
        return os.path.join(paths.trash(self.home), self.name)

    @property
    def worktree(self) -> str:
        return self.directory + WORKTREE

    @property
    def deleted(self) -> str:
        return self.directory + DELETED

    @property
    def until(self) -> int:
        return self.at + KEPT

    def tree(self) -> Json | None:
        """Return the record of the session's worktree; None if it has none that is readable."""
        tree = paths.read_json(os.path.join(self.worktree, place.RECORD))
        whole = tree and all(isinstance(tree.get(key), str) for key in ("path", "git", "branch"))
        return tree if whole else None


def entries(home: str) -> list[Entry]:
    """Return the sessions that can be restored, newest first."""
    restorable = [entry for name in names(home) if (entry := entry_of(home, name))]
    return sorted(restorable, key=lambda entry: -entry.at)


def names(home: str) -> list[str]:
    try:
        return os.listdir(paths.trash(home))
    except (FileNotFoundError, NotADirectoryError):
        return []


def entry_of(home: str, name: str) -> Entry | None:
    match = _NAME.fullmatch(name)
    return Entry(home, name, match[2], int(match[1])) if match and paths.is_id(match[2]) else None


@contextmanager
def held(home: str, *, wait: bool = True) -> Iterator[None]:
    """Hold the trash's lock, so that nobody else moves anything. Raises OSError, and
    BlockingIOError without `wait`."""
    folder = os.open(paths.trash(home), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(folder)


def put(home: str, session: str) -> Entry:
    """Move a session that has no worker to the trash. Raises TrashError, Busy, NoWorktree, and
    FileNotFoundError if it is gone."""
    try:
        paths.make_private(paths.trash(home))
    except OSError as error:
        raise _not_moved(session, error) from error
    with held(home):
        directory = paths.session_dir(home, session)
        os.stat(directory)  # else the lock's file would be missed
        lock = Lock.acquire(os.path.join(directory, paths.LOCK))
        try:
            at = time.time_ns() // 1_000_000
            entry = Entry(home, f"{at}-{session}", session, at)
            _move(home, entry)
        finally:
            lock.release()
        if (tree := entry.tree()) is not None:
            branch.retire(entry.name, tree)
    return entry


def _move(home: str, entry: Entry) -> None:
    """Move the worktree first: one without a session is cleared by those who tidy up."""
    folder = place.folder(home, entry.session)
    try:
        if os.path.isdir(folder):
            with place.held(home, entry.session):
                if (tree := place.record(home, entry.session)) is not None:
                    with suppress(NoWorktree):  # what cannot be taken over stays in the folder
                        own_git.exchange(tree)
                os.rename(folder, entry.worktree)
        os.rename(paths.session_dir(home, entry.session), entry.directory)
    except FileNotFoundError:
        raise
    except OSError as error:
        with suppress(FileNotFoundError):
            os.rename(entry.worktree, folder)
        raise _not_moved(entry.session, error) from error


def _not_moved(session: str, error: OSError) -> TrashError:
    message = f"The session cannot be moved to the trash: {error.strerror or error}."
    if error.errno == errno.EXDEV:
        message = "The session cannot be moved to the trash, which is on another file system."
    return TrashError("no_trash", message, f"To delete it: rookery remove --permanently {session}")


def restore(entry: Entry) -> str:
    """Move a session back to where it was; return a sentence on what is missing. Raises
    TrashError."""
    home, session = entry.home, entry.session
    directory, folder = paths.session_dir(home, session), place.folder(home, session)
    with held(home):
        if not os.path.isdir(entry.directory):
            message = f"Session {session} is no longer in the trash."
            raise TrashError("not_in_trash", message, kind="missing")
        for taken in (directory, folder if os.path.isdir(entry.worktree) else ""):
            if os.path.lexists(taken):
                message = f"Session {session} cannot be restored: {taken} exists."
                raise TrashError("id_taken", message, "Move it away, or remove that session first.")
        tree = entry.tree()
        try:
            if tree is not None:
                branch.check(tree)
            _move_back(entry, directory, folder)
        except NoWorktree as error:
            message = f"Session {session} cannot be restored. {error}"
            raise TrashError(error.reason, message, error.remedy, error.kind) from error
        except OSError as error:
            message = f"Session {session} cannot be restored: {error.strerror or error}."
            raise TrashError("not_restored", message) from error
        return branch.bring_back(entry.name, tree) if tree is not None else ""


def _move_back(entry: Entry, directory: str, folder: str) -> None:
    """Move the session first, for the same reason as in `_move`. Raises OSError."""
    paths.make_private(paths.sessions(entry.home))
    os.rename(entry.directory, directory)
    if os.path.isdir(entry.worktree):
        try:
            paths.make_private(os.path.dirname(folder))
            os.rename(entry.worktree, folder)
        except OSError:
            os.rename(directory, entry.directory)
            raise


def mend(home: str) -> None:
    """Finish what killed processes left half done, unless another process is at work. Costs reading
    one directory, and a look at each worktree. Raises OSError."""
    with suppress(BlockingIOError, FileNotFoundError), held(home, wait=False):
        for name in names(home):
            entry = entry_of(home, name.removesuffix(WORKTREE)) if name.endswith(WORKTREE) else None
            if entry is not None:
                _mend(entry)
        for session in place.sessions(home):
            tree = place.record(home, session)
            if tree and (name := branch.entry_of(tree)) and _is_back(home, session, name):
                branch.bring_back(name, tree)


def _mend(entry: Entry) -> None:
    if os.path.isdir(entry.directory):
        if (tree := entry.tree()) is not None:
            branch.retire(entry.name, tree)
    elif not os.path.isdir(entry.deleted):
        folder = place.folder(entry.home, entry.session)
        if os.path.isdir(paths.session_dir(entry.home, entry.session)):
            with suppress(OSError):
                os.rename(entry.worktree, folder)


def _is_back(home: str, session: str, name: str) -> bool:
    entry = entry_of(home, name)
    return (
        entry is not None
        and entry.session == session
        and os.path.isdir(paths.session_dir(home, session))
        and not os.path.isdir(entry.directory)
    )
