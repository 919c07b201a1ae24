"""Parsing a patch in git's format, which protocol 2 sends for a change, into its hunks."""

import re
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")
_NONE = "/dev/null"


class Hunk(NamedTuple):
    path: str
    old: str | None
    """None: the file is new."""
    new: str
    line: int
    """Of the old text, and of the new one."""
    new_line: int


def hunks(patch: str) -> list[Hunk]:
    """Return the hunks of all files; none if it is not a patch of text."""
    parsed: list[Hunk] = []
    before = after = ""
    rows: list[str] | None = None
    for row in [*patch.split("\n"), "@@"]:
        if rows is not None and row[:1] in (" ", "+", "-", "\\"):
            rows.append(row)
            continue
        if rows:
            parsed.append(_hunk(rows, before, after))
        rows = None
        if row.startswith("--- "):
            before = _path(row)
        elif row.startswith("+++ "):
            after = _path(row)
        elif _HUNK.match(row):
            rows = [row]
    return parsed


def _hunk(rows: list[str], before: str, after: str) -> Hunk:
    head, *rows = rows
    place = _HUNK.match(head)
    old, new = (_side(rows, sign) for sign in "-+")
    first, second = (max(1, int(number)) for number in place.groups()) if place else (1, 1)
    path = before if after == _NONE else after
    return Hunk(path, None if before == _NONE else old, new, first, second)


def _side(rows: list[str], sign: str) -> str:
    kept = [row[1:] for row in rows if row[:1] in (" ", sign)]
    return "".join(f"{row}\n" for row in kept)


def _path(row: str) -> str:
    path = row[4:].partition("\t")[0]
    return path[2:] if path.startswith(("a/", "b/")) else path
