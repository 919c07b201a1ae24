"""A default message for a commit: what it changes, by file. Never the prompt: a task does not
describe what came of it."""

import os

from rookery.client.worktrees.repository import Git, names_of
from rookery.core.json.safe_text import count

VERBS = {"A": "add", "D": "delete", "R": "rename"}
"""Verbs by git's status letter; anything else is a change."""
SUBJECT = 68
"""Characters of the first line; a longer one has no names."""
LISTED = 20
"""Files that the message lists."""


def drafted(store: Git, before: str, after: str) -> str:
    """Return a message for the changes between two commits or trees; "" if nothing changed."""
    rows = iter(names_of(store.data("diff-tree", "-r", "-z", "-M", "--name-status", before, after)))
    changed: dict[str, list[str]] = {"add": [], "change": [], "rename": [], "delete": []}
    for letter in rows:
        path = _shown(next(rows, ""))
        if letter[:1] == "R":
            path = f"{path} to {_shown(next(rows, ''))}"
        changed[VERBS.get(letter[:1], "change")].append(path)
    return _text({verb: paths for verb, paths in changed.items() if paths})


def _shown(path: str) -> str:
    """The path as it can stand in a line of text."""
    plain = path.encode("utf-8", "replace").decode()
    return "".join(char if char.isprintable() else "?" for char in plain)


def _text(changed: dict[str, list[str]]) -> str:
    every = [path for paths in changed.values() for path in paths]
    if not every:
        return ""
    named = ", ".join(f"{verb} {_names(paths)}" for verb, paths in changed.items())
    if len(named) > SUBJECT:
        named = ", ".join(f"{verb} {count(len(paths), 'file')}" for verb, paths in changed.items())
        named += _place(every)
    subject = named[:1].upper() + named[1:]
    if len(every) == 1 and every[0] in subject:
        return subject
    lines = [f"- {verb} {path}" for verb, paths in changed.items() for path in paths]
    more = len(lines) - LISTED
    rest = [f"- and {count(more, 'more file')}"] if more > 0 else []
    return "\n".join([subject, "", *lines[:LISTED], *rest])


def _names(paths: list[str]) -> str:
    names = [" to ".join(map(os.path.basename, path.split(" to "))) for path in paths]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _place(paths: list[str]) -> str:
    """The directory that contains them all, if there is one."""
    common = os.path.commonpath([os.path.dirname(path.partition(" to ")[0]) for path in paths])
    return f" in {common}" if common and len(common) <= SUBJECT else ""
