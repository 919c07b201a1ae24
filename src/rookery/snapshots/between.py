"""The changes made by a session's turns, as one diff: each turn is a step from one snapshot to
another, and what others did between two steps is left out."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import Store, split

ABSENT = "0" * 40
REPOSITORY = "160000"
PLAIN = frozenset({"100644", "100755"})
DIFF = (
    *("diff-tree", "-r", "-M", "-z", "--raw", "--numstat", "--patch"),
    *("--no-color", "--no-ext-diff", "--no-textconv"),
)


class Entry(NamedTuple):
    mode: str
    blob: str
    """Zeros: there is no file."""


type Mine = Callable[[int, str], bool]
"""Whether a path of the step with that number is the session's doing."""


def difference(store: Store, steps: Sequence[tuple[str, str]], is_own: Mine) -> bytes:
    """Return the diff as git prints it, with the records of all files first. Raises Unfit."""
    first, last = dict[str, Entry](), dict[str, Entry]()
    for number, (before, after) in enumerate(steps):
        for path, was, now in _changes(store, before, after):
            if not is_own(number, path):
                continue
            present = last.get(path, was)
            first.setdefault(path, was)
            last[path] = now if present == was else _carried(store, present, was, now)
    below = [f"--relative={store.scope.below}/"] if store.scope.below else []
    trees = [_tree(store, each) for each in (first, last)]
    return store.git(*DIFF, *below, *trees) if trees[0] != trees[1] else b""


def _changes(store: Store, before: str, after: str) -> Iterator[tuple[str, Entry, Entry]]:
    if before == after:
        return
    for each in (before, after):
        if not store.has(each):
            raise Unfit("gone", "A snapshot is no longer in the store.")
    args = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev")
    fields = iter(split(store.git(*args, store.tree(before), store.tree(after))))
    for about in fields:
        was, now, was_blob, now_blob, _ = about.lstrip(":").split(" ")
        path = next(fields)
        if REPOSITORY not in (was, now):
            yield path, Entry(was, was_blob), Entry(now, now_blob)


def _carried(store: Store, present: Entry, was: Entry, now: Entry) -> Entry:
    """The change of a file that someone else had changed in between, without their change; with it,
    if the two cannot be separated."""
    if not {present.mode, was.mode, now.mode} <= PLAIN:
        return now
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, entry in (("present", present), ("was", was), ("now", now)):
            names.append(os.path.join(folder, name))
            with open(names[-1], "wb") as file:
                file.write(store.git("cat-file", "blob", entry.blob))
        with suppress(Unfit):  # a conflict, or no text
            merged = store.git("merge-file", "-p", *names)
            written = store.git("hash-object", "-w", "--no-filters", "--stdin", given=merged)
            return Entry(now.mode, written.decode().strip())
    return now


def _tree(store: Store, entries: Mapping[str, Entry]) -> str:
    """Write a tree with these files alone."""
    rows = (
        f"{entry.mode} {entry.blob}\t".encode() + os.fsencode(path) + b"\0"
        for path, entry in entries.items()
        if entry.blob != ABSENT
    )
    with tempfile.TemporaryDirectory() as folder:
        index = os.path.join(folder, "index")
        args = ("update-index", "-z", "--replace", "--index-info")
        store.git(*args, given=b"".join(rows), index=index)
        return store.git("write-tree", index=index).decode().strip()
