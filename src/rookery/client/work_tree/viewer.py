"""Shows files of a session's directories on a page: never one from outside them, none of Rookery's
or the user's keys, a bounded part at a time, with secrets masked."""

import os
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.json import Json, lenient, secrets
from rookery.core.json.secret_files import hides_values, is_key, without_value
from rookery.core.policy.reach import KEYS
from rookery.core.refusals import Refused
from rookery.core.units import size as size_of
from rookery.snapshots import place

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that is shown at all."""
LINES, LINE = 400, 1_000
"""The most lines of one part, and the most characters shown of each."""
ABOVE = 100
"""Lines above the one that was asked for."""
AROUND = 400
"""Lines beside a part in which a private key may begin or end."""

_SYSTEM = ("/proc", "/sys", "/dev")


class Unreadable(Refused):
    """A file cannot be shown."""


class Part(NamedTuple):
    """Lines of a file."""

    path: str
    """From the session's directory; one in another of its directories is absolute."""
    size: int
    """Bytes of the file."""
    lines: int = 0
    """Of the whole file."""
    first: int = 1
    rows: tuple[str, ...] = ()
    binary: bool = False
    masked: bool = False
    """It is a file of settings whose values are all hidden."""


class Directories(NamedTuple):
    """The directories in which a session's files may be read."""

    roots: tuple[str, ...]
    """Its own first."""
    home: str
    """Rookery's."""

    def read(self, given: str, line: int = 0, first: int = 0, last: int = 0) -> Part:
        """Return a part of a file, around `line`, or from one line to another. Raises
        Unreadable."""
        root, path = self._located(given)
        shown = path if root == os.path.realpath(self.roots[0]) else os.path.join(root, path)
        _check_kind(shown, os.path.join(root, path))
        try:
            content = place.read(root, path, LARGEST)
        except place.Outside:
            raise Unreadable("not_a_file", f"{shown} is not a file that can be shown.") from None
        except OSError as error:
            raise _unreadable(shown, error, os.path.join(root, path)) from None
        if content.kind == place.ABSENT:
            remedy = "It may have been moved."
            raise Unreadable("no_file", f"{shown} does not exist.", remedy, "missing")
        if content.kind != place.FILE:  # a link since it was resolved
            raise Unreadable("outside", f"{shown} has just become a link.", "Try again.")
        if b"\0" in content.data[:8_000]:
            return Part(shown, len(content.data), binary=True)
        hides = any(map(hides_values, (given, path)))
        return _part(Part(shown, len(content.data), masked=hides), content.data, line, first, last)

    def known(self, given: Iterable[str]) -> list[str]:
        """Return those of the paths that name a readable file."""
        return [each for each in given if self._is_file(each)]

    def _is_file(self, given: str) -> bool:
        try:
            root, path = self._located(given)
            return stat.S_ISREG(os.lstat(os.path.join(root, path)).st_mode)
        except (Unreadable, OSError, ValueError):
            return False

    def _located(self, given: str) -> tuple[str, str]:
        """Resolve a path to one of the directories and a path in it, both without links. A part
        that becomes a link later is not followed. Raises Unreadable."""
        if "\0" in given or not given.strip() or len(given) > 4_096:
            raise Unreadable("bad_path", "This is not a path.")
        meant = os.path.normpath(os.path.join(self.roots[0], given))
        real = os.path.realpath(meant)
        root = next((each for each in map(os.path.realpath, self.roots) if _in(real, each)), None)
        if root is None or any(_in(real, each) for each in _SYSTEM):
            raise Unreadable(
                "outside",
                f"{given[:200]} is outside the session's directories.",
                "Open it in an editor.",
            )
        path = os.path.relpath(real, root)
        self._check_private(meant, real, root)
        if ".git" in path.lower().split("/"):
            raise Unreadable("not_a_file", "git's own files are not shown.", "Use git.")
        return root, path

    def _check_private(self, meant: str, real: str, root: str) -> None:
        """Raises Unreadable if the file is a key, or Rookery's own."""
        rookery, user = os.path.realpath(self.home), os.path.realpath(os.path.expanduser("~"))
        own = _in(real, rookery) and (root == rookery or not _in(root, rookery))
        keys = any(_in(real, os.path.join(user, each)) for each in KEYS)
        name = os.path.basename(real)
        if own or keys or any(map(is_key, (real, meant))):
            raise Unreadable(
                "secret", f"{name} may hold keys, so it is not shown.", "Open it in an editor."
            )


def directories_of(head: Json, home: str) -> Directories:
    """Return the directories of a session. `head`: its header or its row in the list."""
    return Directories((str(head["cwd"]), *lenient.texts(head, "roots")), home)


def inside(roots: Sequence[str], path: str) -> bool:
    """Tell whether a path, as written, lies below one of the roots."""
    meant = os.path.normpath(os.path.join(roots[0], path)) if roots else ""
    return any(_in(meant, os.path.normpath(each)) and meant != each for each in roots if each)


def _in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _check_kind(shown: str, path: str) -> None:
    """Raises Unreadable. Devices are not even opened, since opening some has effects."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return  # which is told when it is read
    if stat.S_ISDIR(mode):
        raise Unreadable("not_a_file", f"{shown} is a directory.", "Name a file in it.")
    if not stat.S_ISREG(mode):
        raise Unreadable("not_a_file", f"{shown} is not a file that can be shown.")


def _unreadable(shown: str, error: OSError, path: str) -> Unreadable:
    if "large" in str(error):
        try:
            size = f" ({size_of(os.lstat(path).st_size)})"
        except OSError:
            size = ""
        return Unreadable(
            "too_large", f"{shown} is too large to show{size}.", "Open it in an editor."
        )
    return Unreadable("no_file", f"{shown} cannot be read: {error.strerror}.", kind="missing")


def _part(part: Part, data: bytes, line: int, first: int, last: int) -> Part:
    lines = data.split(b"\n")
    total = len(lines) - (lines[-1] == b"")
    first = min(first or max(1, min(line, total) - ABOVE), max(1, total))
    last = min(last or total, total, first + LINES - 1)
    begin = max(0, first - 1 - AROUND)
    text = b"\n".join(lines[begin : min(total, last + AROUND)]).decode("utf-8", "replace")
    rows = secrets.covered(text.replace("\r", "")).split("\n")[first - 1 - begin : last - begin]
    rows = list(map(without_value, rows)) if part.masked else rows
    return part._replace(lines=total, first=first, rows=tuple(map(_cut, rows)))


def _cut(row: str) -> str:
    more = len(row) - LINE
    return f"{row[:LINE]}… {more:,} more characters" if more > 0 else row
