"""The preview of a rewind, which every face shows before it is done: which files change, who
changed them, what is left alone, and which turns are hidden.

Only files that the session alone changed are rewound without further confirmation. A fingerprint
confirms a list as it was shown: one stands for the session's own files, another for all."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean_line, count

OWN, HAND, SESSION, COMMITTED, UNCLEAR = "own", "hand", "session", "committed", "unclear"
ORDER = (OWN, HAND, SESSION, COMMITTED, UNCLEAR)
TITLES = {
    OWN: "Changed by this session",
    HAND: "Changed by hand or by another program since",
    SESSION: "Changed by another session",
    COMMITTED: "Committed since",
    UNCLEAR: "Not certain who changed these",
}
WORDS = {
    HAND: "changed since",
    SESSION: "changed by another session",
    COMMITTED: "committed since",
    UNCLEAR: "not certain who changed it",
}
"""Why one of them was not touched."""
CHANGED = "changed"
LOOK_AGAIN = "Files changed since this list was made. Nothing was rewound: look at the new list."
LISTED = 1000
"""Changes that are handed out; of more, the number is."""
LEFT = {
    "ignored": "ignored by git",
    "large": "too large",
    "nested": "nested repositories",
    "unreadable": "unreadable",
    "spared": "not removed",
}
NAMED = 5
SHOWN = 50
"""Paths of each origin in a text."""
SIGNS = {"created": "+", "removed": "-", "changed": "~"}


class FileChange(NamedTuple):
    kind: str
    """`created`, `changed` or `removed`."""
    path: str
    """That of a folder without files ends with a slash."""
    by: str = OWN
    who: str = ""
    """Other sessions that may have changed it."""


class Group(NamedTuple):
    """The changes of one origin."""

    by: str
    title: str
    changes: Sequence[FileChange]
    total: int


class Preview(NamedTuple):
    turn: int
    undo: bool
    last: int
    """The newest turn."""
    target: str = ""
    """The snapshot that the files become; "": there is none."""
    present: str = ""
    changes: Sequence[FileChange] = ()
    """The session's own first."""
    totals: Json = {}  # noqa: RUF012 - never changed
    """How many changes there are, by origin."""
    left: Json = {}  # noqa: RUF012
    """Names of what is left alone, by reason."""
    hides: int = 0
    """Turns that a rewind of the conversation hides; of an undo: that it shows again."""
    notes: Sequence[str] = ()
    own_fingerprint: str = ""
    fingerprint: str = ""
    """Of all changes."""
    shows: int = 0
    """Turns up to this one that an earlier rewind hid, and that come back."""

    @property
    def own(self) -> int:
        return int(self.totals.get(OWN, 0))

    @property
    def total(self) -> int:
        return sum(int(each) for each in self.totals.values())

    def accepted(self, fingerprint: str) -> list[str] | None:
        """Return the paths that a fingerprint confirms; None if it belongs to another list. ""
        means that nobody was asked: the session's own files."""
        if fingerprint in ("", self.own_fingerprint):
            return [each.path for each in self.changes if each.by == OWN]
        if fingerprint == self.fingerprint:
            return [each.path for each in self.changes]
        return None


def fingerprint(about: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Return the fingerprint of a list, whose rows hold a path, its present state and the state it
    would get."""
    return sha256(json.dumps([*about, *sorted(map(list, rows), key=str)]).encode()).hexdigest()[:20]


# --- in words ------------------------------------------------------------------------------------


def groups(preview: Preview) -> list[Group]:
    """Group the changes by origin, the session's own first."""
    by_origin = []
    for by in ORDER:
        changes = [each for each in preview.changes if each.by == by]
        if not changes:
            continue
        who = sorted({name for each in changes for name in each.who.split(", ") if name})
        names = f" ({', '.join(who[:NAMED])}{', …' if len(who) > NAMED else ''})" if who else ""
        by_origin.append(Group(by, TITLES[by] + names, changes, int(preview.totals[by])))
    return by_origin


def left_alone(preview: Preview) -> Iterator[str]:
    """Yield a line for each reason for leaving files alone."""
    for reason, label in LEFT.items():
        names = lenient.texts(preview.left, reason)
        if names:
            more = " and more" if len(names) > NAMED else ""
            yield f"{label}: {', '.join(names[:NAMED])}{more}"


def place(preview: Preview) -> str:
    return f"turn {preview.turn}" if preview.turn else "the beginning"


def about_conversation(preview: Preview) -> str:
    if preview.undo:
        return "The conversation becomes what it was before the rewind."
    sentences = []
    if preview.hides:
        later = "The later turn is" if preview.hides == 1 else f"{preview.hides} later turns are"
        sentences.append(f"{later} hidden, not deleted.")
    if preview.shows:
        hidden = (
            "A hidden turn comes" if preview.shows == 1 else f"{preview.shows} hidden turns come"
        )
        sentences.append(f"{hidden} back.")
    return " ".join(sentences) or "The conversation stays as it is: there is no later turn."


def about_files(preview: Preview, *, every: bool = False) -> str:
    """Describe what happens to the files. `every`: also to those that others changed."""
    if not preview.target:
        return "The files stay as they are: there is no snapshot of them."
    if not preview.total:
        return "No file would change."
    own = preview.total if every else preview.own
    rest = preview.total - own
    message = f"{count(own, 'file')} would change." if own else "No file would change."
    if rest:
        stays = "it is" if rest == 1 else "they are"
        message += f" {count(rest, 'other file')} would stay as {stays}."
    return message


def listed(preview: Preview, *, every: bool) -> Iterator[str]:
    """Yield lines that list the files by who changed them, and what is never touched."""
    for group in groups(preview):
        stays = "" if every or group.by == OWN else ", left alone"
        yield f"{clean_line(group.title)}{stays}:"
        for change in group.changes[:SHOWN]:
            yield f"  {SIGNS.get(change.kind, '~')} {clean_line(change.path)}"
        if group.total > SHOWN:
            yield f"  … and {count(group.total - SHOWN, 'more file')}"
    left = [*left_alone(preview)]
    yield from ["Never touched:", *(f"  {clean_line(line)}" for line in left)] if left else []


def summed(preview: Preview, *, files: bool, conversation: bool, every: bool) -> Iterator[str]:
    """Yield the sentences below that list."""
    if files:
        where = "Undo" if preview.undo else f"To {place(preview)}"
        yield f"{where}: {about_files(preview, every=every)}"
    yield from map(clean_line, preview.notes)
    if conversation:
        yield about_conversation(preview)


def text(preview: Preview, *, files: bool, conversation: bool, every: bool) -> Iterator[str]:
    """Yield the whole text of a preview: what the rewind would do, and what it would not."""
    yield from listed(preview, every=every) if files else ()
    yield from summed(preview, files=files, conversation=conversation, every=every)


# --- between machines ----------------------------------------------------------------------------


def to_json(preview: Preview) -> Json:
    """Return the preview as JSON, with at most LISTED changes."""
    fields = preview._asdict() | {"changes": [each._asdict() for each in preview.changes[:LISTED]]}
    texts = {
        "files": about_files(preview),
        "conversation": about_conversation(preview),
        "groups": {each.by: each.title for each in groups(preview)},
        "left": list(left_alone(preview)),
    }
    return fields | {"notes": list(preview.notes), "total": preview.total, "words": texts}


def from_json(payload: Json) -> Preview:
    known = {key: payload[key] for key in Preview._fields if key in payload}
    rows = list(lenient.mappings(payload, "changes"))
    given = [{key: str(row.get(key, "")) for key in FileChange._fields} for row in rows]
    return Preview(**known | {"changes": [FileChange(**each) for each in given]})
