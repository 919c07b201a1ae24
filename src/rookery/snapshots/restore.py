"""A directory becomes what it was at a snapshot. Every path is looked at again just before it is
changed: what is not as the snapshot of the present says was changed by someone else, and stays.

Files that are ignored, by today's rules or by those of then, and those that were too large, are
left alone.
"""

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, NamedTuple

from rookery.snapshots import place
from rookery.snapshots.place import FILE, LINK, NOTHING, Content, Outside
from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import USUAL, Store, joined, split

LARGEST = 1 << 31
"""Bytes of a file that is written back: what was taken is smaller."""

ABSENT = "0" * 40
LINKED = "120000"


class Change(NamedTuple):
    """A path that differs between two snapshots; modes as git writes them."""

    path: str
    was: str
    """Mode and content of the first; a content of zeros: it was not there."""
    was_blob: str
    now: str
    now_blob: str
    now_permissions: int = 0

    @property
    def kind(self) -> str:
        if self.now_blob == ABSENT:
            return "removed"
        return "created" if self.was_blob == ABSENT else "changed"


class Outcome(NamedTuple):
    done: list[Change]
    kept: dict[str, str]
    """Paths that were not changed, each with the reason."""


def changes(store: Store, present: str, target: str) -> list[Change]:
    """What makes the first snapshot into the second. Raises Unfit."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev")
    fields = iter(split(store.git(*words, store.tree(present), store.tree(target))))
    before, after = store.meta(present)["modes"], store.meta(target)["modes"]
    found: dict[str, Change] = {}
    for about in fields:
        was, now, was_blob, now_blob, _ = about.lstrip(":").split(" ")
        path = next(fields)
        usual = USUAL[now == "100755"]
        found[path] = Change(path, was, was_blob, now, now_blob, after.get(path, usual))
    for path in (before.keys() | after.keys()) - found.keys():
        if before.get(path) != after.get(path):
            found |= _mode_change(store, target, path, after.get(path))
    return sorted(found.values())


def _mode_change(store: Store, target: str, path: str, mode: int | None) -> dict[str, Change]:
    """Of a file that is the same but for permissions that git does not keep."""
    said = store.git("ls-tree", "-z", "--full-tree", store.tree(target), "--", path).partition(
        b"\t"
    )[0]
    if not said:
        return {}
    kind, _, blob = said.decode().split(" ")
    usual = USUAL[kind == "100755"]
    return {path: Change(path, kind, blob, kind, blob, usual if mode is None else mode)}


def restore(store: Store, present: str, target: str) -> Outcome:
    """Deletions first, deepest first, so that a folder can become a file. Raises Unfit."""
    wanted = changes(store, present, target)
    kept: dict[str, str] = {}
    done: list[Change] = []
    then = store.meta(target)["left"]
    # The rules of then: its ignore files are written first.
    wanted.sort(key=lambda each: os.path.basename(each.path) != ".gitignore")
    removed = [each for each in wanted if each.kind == "removed"]
    written = [each for each in wanted if each.kind != "removed"]
    rules = [each for each in written if os.path.basename(each.path) == ".gitignore"]
    gone = [each for each in removed if os.path.basename(each.path) == ".gitignore"]
    with _Blobs(store) as blobs:
        for each in (*gone, *rules):
            _apply(store, each, blobs, done, kept)
        rest = [each for each in removed if each not in gone]
        ignored = _ignored(store, [each.path for each in rest if _stands(store.scope.top, each)])
        for each in sorted(rest, key=lambda each: each.path.count("/"), reverse=True):
            if each.path in ignored or each.path in then:
                kept[each.path] = "ignored" if each.path in ignored else "too large then"
            else:
                _apply(store, each, blobs, done, kept)
        for each in written:
            if each not in rules:
                _apply(store, each, blobs, done, kept)
    return Outcome(done, kept)


def _ignored(store: Store, paths: list[str]) -> set[str]:
    if not paths:
        return set()
    words = ("--no-literal-pathspecs", "check-ignore", "-z", "--no-index", "--stdin")
    given = joined(f"./{path}" for path in paths)  # none of them begins as a pattern does
    return {path[2:] for path in split(store.git(*words, given=given, fine=(0, 1)))}


def _apply(
    store: Store, change: Change, blobs: "_Blobs", done: list[Change], kept: dict[str, str]
) -> None:
    top, path = store.scope.top, change.path
    try:
        if not _stands(top, change):
            kept[path] = "changed meanwhile"
            return
        if change.kind == "removed":
            place.write(top, path, NOTHING)
            _drop_empty(top, path, store.scope.below)
        else:
            _make_room(top, path)
            data = blobs.read(change.now_blob)
            link = change.now == LINKED
            content = (
                Content(LINK, 0, data) if link else Content(FILE, change.now_permissions, data)
            )
            place.write(top, path, content)
        done.append(change)
    except (Outside, OSError) as error:
        kept[path] = str(getattr(error, "strerror", "") or error)


def _stands(top: str, change: Change) -> bool:
    """Whether the path is as the snapshot of the present has it."""
    try:
        found = place.read(top, change.path, LARGEST)
    except IsADirectoryError:
        return change.was_blob == ABSENT
    except Outside:
        return _is_folder(top, change.path) and change.was_blob == ABSENT
    if not found.kind or change.was_blob == ABSENT:
        return not found.kind and change.was_blob == ABSENT
    return (found.kind == LINK) == (change.was == LINKED) and blob_id(found.data) == change.was_blob


def _is_folder(top: str, path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.lstat(os.path.join(top, path)).st_mode)
    return False


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _make_room(top: str, path: str) -> None:
    """Empty folders that stand where a file belongs. What else is in one keeps it there."""
    if _is_folder(top, path):
        for folder, _, _ in os.walk(os.path.join(top, path), topdown=False):
            os.rmdir(folder)


def _drop_empty(top: str, path: str, below: str) -> None:
    """The folders that a removed file leaves empty; never the session's directory."""
    folder = os.path.dirname(path)
    while folder and folder != below:
        try:
            os.rmdir(os.path.join(top, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)


class _Blobs:
    """Contents by their ids, from one git."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "_Blobs":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()

    def read(self, name: str) -> bytes:
        """Raises Unfit."""
        if self._process is None:
            self._process = self._store.start("cat-file", "--batch", stdin=subprocess.PIPE)
        given, said = self._pipes()
        given.write(f"{name}\n".encode())
        given.flush()
        about = said.readline().split()
        if len(about) != 3:
            raise Unfit("damaged", f"The snapshot lacks {name}: it cannot be restored.")
        data = said.read(int(about[2]))
        said.read(1)
        return data

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout


def named(changes: list[Change]) -> Iterator[tuple[str, str]]:
    return ((each.kind, each.path) for each in changes)
