"""Parses the text of an `apply_patch` call, without reading its files: the changes of each file, in
the form of the other editors' calls. A malformed patch is shown as it is; its tool refuses it."""

from collections.abc import Iterator
from typing import NamedTuple

ADD, DELETE = "*** Add File: ", "*** Delete File: "
UPDATE, MOVE = "*** Update File: ", "*** Move to: "
_MARKS = ("*** Begin Patch", "*** End Patch", "*** End of File")
_SECTION = "@@"


class Change(NamedTuple):
    """A change of one place in one file."""

    path: str
    old: str | None
    """None: the file is new."""
    new: str | None
    """None: the file is deleted."""


class File(NamedTuple):
    verb: str
    path: str
    moved: str
    """Where to; "": it stays."""
    changes: list[Change]


def read(patch: str) -> list[File]:
    """Return the files of a patch, in its order."""
    return [_file(head, lines) for head, lines in _sections(patch)]


def paths_in(patch: str) -> list[str]:
    """Return every file that a line names, wherever it stands: for judging, rather too many."""
    heads = (ADD, DELETE, UPDATE, MOVE)
    lines = (line for line in patch.split("\n") if line.startswith(heads))
    return list(dict.fromkeys(line.partition(": ")[2] for line in lines))


def _sections(patch: str) -> Iterator[tuple[str, list[str]]]:
    head, lines = "", list[str]()
    for line in patch.split("\n"):
        if line.startswith((ADD, DELETE, UPDATE)):
            if head:
                yield head, lines
            head, lines = line, []
        elif head and not line.startswith(_MARKS):
            lines.append(line)
    if head:
        yield head, lines


def _file(head: str, lines: list[str]) -> File:
    _, _, path = head.partition(": ")
    moved = ""
    if lines and lines[0].startswith(MOVE):
        moved, lines = lines[0].removeprefix(MOVE), lines[1:]
    if head.startswith(ADD):
        text = "\n".join(line.removeprefix("+") for line in lines)
        return File("create", path, "", [Change(path, None, text)])
    if head.startswith(DELETE):
        return File("delete", path, "", [Change(path, "", None)])
    changes = [Change(moved or path, *each) for each in _hunks(lines)]
    return File("move" if moved else "edit", path, moved, changes)


def _hunks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the old and the new lines of each place."""
    old, new = list[str](), list[str]()
    for line in [*lines, _SECTION]:
        if line.startswith(_SECTION):
            if old != new:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
            continue
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
