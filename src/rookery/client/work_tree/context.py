"""The unchanged lines around the hunks of a changed file."""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.client.work_tree.changes import NO_NEWLINE, File, Hunk, NoDiff
from rookery.snapshots import place

LINES = 3
"""That git leaves around a change."""
BYTES = 4 * 1024 * 1024


class Gap(NamedTuple):
    """Lines that are in no hunk, by their numbers after the change."""

    first: int
    last: int
    """0: up to the end of the file."""
    shift: int
    """How much higher the numbers are than before the change."""


def gaps(file: File) -> list[Gap | None]:
    """Return the gap before each hunk, and the one after the last; None where nothing is
    left out."""
    if file.note or "000000" in file.modes or not file.hunks:
        return [None] * (len(file.hunks) + 1)
    between: list[Gap | None] = []
    at = 1
    for hunk in file.hunks:
        gap = Gap(at, hunk.new - 1, hunk.new - hunk.old)
        between.append(gap if gap.last >= gap.first else None)
        at = hunk.new + _size(hunk, "+")
    last = file.hunks[-1]
    shift = at - last.old - _size(last, "-")
    return [*between, None if _ends_file(last) else Gap(at, 0, shift)]


def whole(file: File, lines: Sequence[bytes]) -> File:
    """Return the file with all its lines; `lines` are those after the change."""
    hunks = list[Hunk]()
    for hunk, gap in zip(file.hunks, gaps(file), strict=False):
        above = [b" " + line for line in lines[gap.first - 1 : gap.last]] if gap else []
        old, new = hunk.old - len(above), hunk.new - len(above)
        hunks.append(hunk._replace(old=old, new=new, lines=[*above, *hunk.lines]))
    if hunks and (rest := gaps(file)[-1]):
        below = [b" " + line for line in lines[rest.first - 1 :]]
        hunks[-1] = hunks[-1]._replace(lines=[*hunks[-1].lines, *below])
    return file._replace(hunks=tuple(hunks))


def lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def on_disk(cwd: str, file: File) -> bytes:
    """Return the current content of the file. Raises NoDiff."""
    path = file.change.path
    try:
        content = place.read(cwd, path, BYTES)
    except (place.Outside, OSError, ValueError):
        raise NoDiff("too_large", f"{path} cannot be shown whole.") from None
    if place.digest_of(content) != file.digest:
        raise NoDiff("changed_since", f"{path} changed since it was shown.")
    return content.data


def _size(hunk: Hunk, sign: str) -> int:
    """The number of the hunk's lines on one side."""
    return sum(line[:1] in (b" ", sign.encode()) for line in hunk.lines)


def _ends_file(hunk: Hunk) -> bool:
    """Whether the hunk reaches the end of the file: it has fewer context lines than usual, or a
    mark."""
    below = 0
    for line in reversed(hunk.lines):
        if line[:1] == NO_NEWLINE:
            return True
        if line[:1] != b" ":
            break
        below += 1
    return below < LINES
