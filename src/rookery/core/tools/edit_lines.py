"""Finding the line of its file at which each change of a call begins.

Many agents send only the piece that they replace, not where it is. The worker finds it while the
file is at hand, and states it in the call as `_meta.rookery.lines`: for each of its diffs, in
order, the number of its first line, or null if the file does not tell. For a call without that (an
older log, an agent on another machine) a location may give it. Otherwise texts that end with a
newline count as whole files, since files do and pieces do not."""

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
    """Return the diffs that a call shows."""
    return [
        Change(lenient.text(part, "path"), old if isinstance(old, str) else None, part["newText"])
        for part in lenient.mappings(call, "content")
        if lenient.text(part, "type") == "diff" and isinstance(part.get("newText"), str)
        for old in [part.get("oldText")]
    ]


def in_input(call: Json) -> list[Change]:
    """Return the change in a call's input, if it holds the old and the new text (swival)."""
    given = lenient.mapping(call, "rawInput")
    path, old, new = (_first(given, names) for names in (_PATH, _OLD, _NEW))
    if not path or old is None or new is None or old == new:
        return []
    return [Change(path, old, new)]


def _first(given: Json, names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def lines_of(call: Json, changes: Sequence[Change]) -> list[Line]:
    """Return the first line of each change of the call; None if unknown."""
    about = lenient.mapping(lenient.mapping(call, "_meta"), "rookery")
    stated = lenient.sequence(about, "lines")
    if len(stated) == len(changes):
        return [line if type(line) is int and line > 0 else None for line in stated]
    return [
        _located(call, changes, place) or _assumed(change) for place, change in enumerate(changes)
    ]


def _located(call: Json, changes: Sequence[Change], place: int) -> Line:
    """Return the line from the call's locations; claude has one for each edited piece."""
    path = changes[place].path
    mine = [at for at, change in enumerate(changes) if change.path == path]
    locations = [each for each in lenient.mappings(call, "locations") if each.get("path") == path]
    if len(locations) != len(mine):
        return None
    line = lenient.integer(locations[mine.index(place)], "line")
    return line if line and line > 0 else None


def _assumed(change: Change) -> Line:
    return 1 if not change.old or change.old.endswith("\n") else None


# --- found in the file ---------------------------------------------------------------------------


class EditLines:
    """Finds the lines of one agent's edits. `read` returns a file's text, or None."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._known: dict[tuple[str, Change], int] = {}
        """What was found before an edit holds after it."""

    def clear(self) -> None:
        """Forget the lines of the last turn."""
        self._known = {}

    def note(self, call: Json) -> Json:
        """Return the call, with the lines of its changes if a file tells them."""
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
            known = find_line(text, change.old, change.new, done=done)
        if known is not None:
            self._known[key, change] = known
            if len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
        return known


def find_line(text: str, old: str, new: str, *, done: bool) -> Line:
    """Return the line of the old text, or of the new one if the edit is `done`; None if it is
    unknown. An edit is made at the first of several places, or at all of them; afterwards, text
    that occurs several times does not tell where."""
    text, old, new = (each.replace("\r\n", "\n") for each in (text, old, new))
    pieces = (new, old) if done else (old, new)
    for piece in pieces:
        at = text.find(piece) if piece else -1
        if at >= 0 and ((piece is old and not done) or text.find(piece, at + 1) < 0):
            return text.count("\n", 0, at) + 1
    return None
