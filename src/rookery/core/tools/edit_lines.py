"""Where in its file each change of a call begins.

Many agents send only the piece that they replace, not where it stands. The worker finds it while
the file is at hand, and states it in the call as `_meta.rookery.lines`: for each of its diffs, in
order, the number of its first line, or null where the file does not tell. Of a call without that
(an older log, an agent on another machine) a location may say it. Else the texts count as whole
files where they end with a newline, as files do and pieces do not.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.tools.calls import key_of

LARGEST = 2_000_000
"""Characters of a file that is searched."""
KEPT = 500
"""Changes of a turn whose place is remembered."""

type Line = int | None


class Change(NamedTuple):
    path: str
    old: str | None
    new: str


_PATH = ("path", "file_path", "filePath", "abs_path")
_OLD = ("old_string", "old_str", "oldString", "oldText")
_NEW = ("new_string", "new_str", "newString", "newText")


def in_content(call: Json) -> list[Change]:
    """The diffs that a call shows."""
    return [
        Change(lenient.text(part, "path"), old if isinstance(old, str) else None, part["newText"])
        for part in lenient.mappings(call, "content")
        if lenient.text(part, "type") == "diff" and isinstance(part.get("newText"), str)
        for old in [part.get("oldText")]
    ]


def in_input(call: Json) -> list[Change]:
    """The two texts that a call was given, as swival's."""
    given = lenient.mapping(call, "rawInput")
    path, old, new = (_first(given, names) for names in (_PATH, _OLD, _NEW))
    if not path or old is None or new is None or old == new:
        return []
    return [Change(path, old, new)]


def _first(given: Json, names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def lines_of(call: Json, changes: Sequence[Change]) -> list[Line]:
    """For each change of the call its first line; None: unknown."""
    about = lenient.mapping(lenient.mapping(call, "_meta"), "rookery")
    stated = lenient.sequence(about, "lines")
    if len(stated) == len(changes):
        return [line if type(line) is int and line > 0 else None for line in stated]
    return [
        _located(call, changes, place) or _assumed(change) for place, change in enumerate(changes)
    ]


def _located(call: Json, changes: Sequence[Change], place: int) -> Line:
    """claude has a location with a line for each piece of a finished edit."""
    path = changes[place].path
    mine = [at for at, change in enumerate(changes) if change.path == path]
    found = [each for each in lenient.mappings(call, "locations") if each.get("path") == path]
    if len(found) != len(mine):
        return None
    line = lenient.integer(found[mine.index(place)], "line")
    return line if line and line > 0 else None


def _assumed(change: Change) -> Line:
    return 1 if not change.old or change.old.endswith("\n") else None


# --- found in the file ---------------------------------------------------------------------------


class EditLines:
    """Of one agent. `read`: the text of a file; None where it cannot be read."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._known: dict[tuple[str, Change], int] = {}
        """What was found before an edit holds after it."""

    def clear(self) -> None:
        """A new turn."""
        self._known = {}

    def note(self, call: Json) -> Json:
        """The call, with the lines of its changes where a file tells them."""
        changes = in_content(call) or in_input(call)
        if not any(change.old for change in changes):
            return call
        done = lenient.text(call, "status") == "completed"
        lines = [self._line(key_of(call), change, done=done) for change in changes]
        if None in lines and all(self._read(change.path) is None for change in changes):
            return call
        meta = lenient.mapping(call, "_meta")
        about = {**lenient.mapping(meta, "rookery"), "lines": lines}
        return {**call, "_meta": {**meta, "rookery": about}}

    def _line(self, key: str, change: Change, *, done: bool) -> Line:
        if not change.old:
            return 1
        known = self._known.get((key, change))
        if known is None and (text := self._read(change.path)) is not None:
            known = found(text, change.old, change.new, done=done)
        if known is not None:
            self._known[key, change] = known
            if len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
        return known


def found(text: str, old: str, new: str, *, done: bool) -> Line:
    """The line at which the old text stands, or the new one if the edit is `done`. Of several
    places an edit is made at the first, or at all; afterwards nothing tells which it was."""
    text, old, new = (each.replace("\r\n", "\n") for each in (text, old, new))
    pieces = (new, old) if done else (old, new)
    for piece in pieces:
        at = text.find(piece) if piece else -1
        if at >= 0 and ((piece is old and not done) or text.find(piece, at + 1) < 0):
            return text.count("\n", 0, at) + 1
    return None
