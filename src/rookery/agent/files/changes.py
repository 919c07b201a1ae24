"""Writes and removes several files together. The new texts are first written beside their files,
which detects a full disk or a directory that cannot be written to; then files are only renamed,
which needs no space and can be undone.

A new file under an old name gets the old one's owner, permissions and extended attributes. If it
still would not be the same file (it has other names, its owner cannot be kept, it is a mount point,
or its directory takes no new files), the old one is overwritten."""

import errno
import os
import shutil
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress

from rookery.snapshots import same_file

NEW, OLD = ".rookery-new-", ".rookery-old-"
"""How the names of files that are there for a moment begin."""


class NotPutBack(Exception):
    """A change failed, and so did undoing the earlier ones. Says where the contents are."""


class Changes:
    def __init__(
        self,
        written: Mapping[str, bytes],
        removed: Collection[str] = (),
        moved: Mapping[str, str] | None = None,
    ) -> None:
        """Take all files by their real paths. `moved`: the old path of each file that is written
        under a new one."""
        self._written = written
        self._removed = removed
        self._moved = moved or {}
        self._ready: dict[str, str] = {}
        """The new file of each that is written."""
        self._aside: dict[str, str] = {}
        """Where the old file is of each that was changed."""
        self._overwritten: dict[str, bytes] = {}
        """What was in those that are overwritten."""
        self._placed: list[str] = []
        self._folders: list[str] = []
        """Those that were made, the uppermost first."""

    def make(self) -> None:
        """Make all changes, or raise OSError with none of them made, or NotPutBack."""
        try:
            for place in (*self._written, *self._removed):
                self._check(place)
            for place, text in self._written.items():
                self._prepare(place, text)
            for place in (*self._removed, *self._written):
                self._exchange(place)
        except OSError as error:
            self._undo(error)
            raise
        for old in (*self._aside.values(), *self._ready.values()):
            with suppress(OSError):
                os.unlink(old)

    def _check(self, place: str) -> None:
        """Check that a file may be written: renaming ignores that it is read-only."""
        with suppress(FileNotFoundError):
            mode = os.lstat(place).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(21, "is a directory", place)
            if not stat.S_ISLNK(mode) and not os.access(place, os.W_OK):
                raise PermissionError(13, "is read-only", place)

    def _prepare(self, place: str, text: bytes) -> None:
        self._make_folder(os.path.dirname(place))
        try:
            there = os.stat(self._moved.get(place, place))
        except FileNotFoundError:
            there = None
        if there and place not in self._moved and _is_overwritten(place, there):
            return
        ready = self._ready[place] = _beside(place, NEW)
        with open(ready, "xb") as new:
            new.write(text)
        if there is None:
            return
        try:
            os.chown(ready, there.st_uid, there.st_gid)
        except OSError:
            if place not in self._moved:
                os.unlink(self._ready.pop(place))
                return
        shutil.copystat(self._moved.get(place, place), ready)
        os.utime(ready)

    def _make_folder(self, folder: str) -> None:
        missing = []
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for each in reversed(missing):
            os.mkdir(each)
            self._folders.append(each)

    def _exchange(self, place: str) -> None:
        """Replace a file; it exists at every moment, as far as the file system can do that."""
        if place in self._written and place not in self._ready:
            self._overwrite(place)
            return
        try:
            self._rename(place)
        except OSError as error:
            if error.errno != errno.EBUSY or place not in self._ready:
                raise
            if old := self._aside.pop(place, ""):
                os.unlink(old)
            self._overwrite(place)  # a file is mounted there

    def _rename(self, place: str) -> None:
        ready = self._ready.get(place, "")
        if os.path.lexists(place):
            old = _beside(place, OLD)
            if not ready or not _linked(place, old):
                os.rename(place, old)
            self._aside[place] = old
        if ready:
            os.replace(ready, place)
            self._placed.append(place)

    def _overwrite(self, place: str) -> None:
        with open(place, "r+b") as file:
            self._overwritten[place] = file.read()
        _overwrite(place, self._written[place])

    def _undo(self, why: OSError) -> None:
        lost = []
        for ready in self._ready.values():
            with suppress(OSError):
                os.unlink(ready)
        for place in self._placed:
            if place not in self._aside:
                with suppress(OSError):
                    os.unlink(place)
        for place, old in self._aside.items():
            try:
                os.replace(old, place)
            except OSError:
                lost.append(f"{place} is now at {old}")
            else:
                with suppress(OSError):
                    os.unlink(old)  # a second name of the same file is not moved
        for place, before in self._overwritten.items():
            try:
                _overwrite(place, before)
            except OSError:
                lost.append(f"{place} is incomplete")
        for folder in reversed(self._folders):
            with suppress(OSError):
                os.rmdir(folder)
        if lost:
            raise NotPutBack(f"{why}. Not everything could be put back: {'; '.join(lost)}") from why


def _is_overwritten(place: str, there: os.stat_result) -> bool:
    takes_files = os.access(os.path.dirname(place), os.W_OK | os.X_OK)
    return not takes_files or not same_file.can_be_replaced(there)


def _overwrite(place: str, data: bytes) -> None:
    with open(place, "r+b", buffering=0) as file:
        same_file.fill(file.fileno(), data)


def _beside(place: str, begin: str) -> str:
    return os.path.join(os.path.dirname(place), begin + os.urandom(6).hex())


def _linked(place: str, other: str) -> bool:
    try:
        os.link(place, other, follow_symlinks=False)
    except OSError:
        return False
    return True
