"""Restores a directory to a snapshot. Every path is checked again just before it is changed: what
differs from the snapshot of the present was changed by someone else, and stays.

Files that are ignored, by the rules of now or of then, and those that were too large, are left
alone, and so are repositories within it."""

import hashlib
import os
import subprocess
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.snapshots import folders, place
from rookery.snapshots.meta import USUAL
from rookery.snapshots.place import FILE, LINK, NOTHING, Content, Outside
from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import NO_FILES, Store, split

LARGEST = 1 << 31
"""Bytes of a file that is written back: what was taken is smaller."""

ABSENT = "0" * 40
LINKED, REPOSITORY, FOLDER = "120000", "160000", "040000"
FILES = frozenset({"100644", "100755"})


class Change(NamedTuple):
    """A path that differs between two snapshots; modes as git writes them. A folder without files
    ends with a slash."""

    path: str
    was: str
    """Mode and content of the first; a content of zeros: it was not there."""
    was_blob: str
    now: str
    now_blob: str
    now_permissions: int = 0
    was_permissions: int = 0

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")

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
    """Return the changes that turn the first snapshot into the second. Raises Unfit."""
    args = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev")
    fields = iter(split(store.git(*args, store.tree(present), store.tree(target))))
    before, after = store.meta(present)["modes"], store.meta(target)["modes"]
    by_path: dict[str, Change] = {}
    for about in fields:
        was, now, was_blob, now_blob, _ = about.lstrip(":").split(" ")
        path = next(fields)
        if REPOSITORY in (was, now):
            continue
        modes = (permissions(now, after.get(path)), permissions(was, before.get(path)))
        by_path[path] = Change(path, was, was_blob, now, now_blob, *modes)
    for path in (before.keys() | after.keys()) - by_path.keys():
        if before.get(path) != after.get(path):
            by_path |= _mode_change(store, target, path, (after.get(path), before.get(path)))
    return sorted((*by_path.values(), *_folder_changes(store, present, target, by_path.values())))


def _folder_changes(
    store: Store, present: str, target: str, files: Iterable[Change]
) -> Iterator[Change]:
    """Yield the changes of folders. None if a snapshot of an earlier version does not record its
    folders, or for folders whose difference results from files that come and go, or from some that
    are left alone."""
    before, after = store.meta(present).get("folders"), store.meta(target).get("folders")
    if before is None or after is None:
        return
    top = store.scope.top
    made = {above for each in files if each.kind != "removed" for above in folders.above(each.path)}
    kept = _wanted_folders(store, target)
    for path in {*before} - made - kept:
        if place.is_empty(top, path):
            yield Change(f"{path}/", FOLDER, NO_FILES, "000000", ABSENT)
    for path in {*after} - {*before}:
        if not place.is_folder(top, path):
            yield Change(f"{path}/", "000000", ABSENT, FOLDER, NO_FILES)


def permissions(mode: str, noted: int | None) -> int:
    """Return the permissions of a file with a mode as git writes it; `noted`: those that git does
    not store."""
    if mode not in FILES:
        return 0
    return USUAL[mode == "100755"] if noted is None else noted


def _mode_change(
    store: Store, target: str, path: str, noted: tuple[int | None, int | None]
) -> dict[str, Change]:
    """The change of a file that is the same except for permissions that git does not store."""
    row = store.git("ls-tree", "-z", "--full-tree", store.tree(target), "--", path).partition(
        b"\t"
    )[0]
    if not row:
        return {}
    kind, _, blob = row.decode().split(" ")
    modes = (permissions(kind, each) for each in noted)
    return {path: Change(path, kind, blob, kind, blob, *modes)}


def restore(
    store: Store, present: str, target: str, only: Collection[str] | None = None
) -> Outcome:
    """Restore the target. Deletions come first, deepest first, so that a folder can become a file.
    `only`: restricts it to these of the paths that differ. Raises Unfit."""
    wanted = changes(store, present, target)
    if only is not None:
        wanted = [each for each in wanted if each.path in only]
    work = _Work(store, _wanted_folders(store, target))
    # The rules of then: its ignore files are written first.
    rules = [each for each in wanted if os.path.basename(each.path) == ".gitignore"]
    rest = [each for each in wanted if each not in rules]
    removed = [each for each in rest if each.kind == "removed"]
    written = [each for each in rest if each.kind != "removed"]
    written.sort(key=lambda each: each.is_folder)
    with work.blobs:
        work.blobs.ask([each.now_blob for each in (*rules, *written) if each.now_blob != ABSENT])
        for each in sorted(rules, key=lambda each: each.kind != "removed"):
            work.apply(each)
        standing = [each for each in removed if _stands(store.scope.top, each)]
        spared = left_alone(store, target, standing)
        for each in sorted(removed, key=_files_first_and_deepest):
            if each.path in spared:
                work.kept |= {} if each.is_folder else {each.path: spared[each.path]}
            else:
                work.apply(each)
        for each in written:
            work.apply(each)
    return Outcome(work.done, work.kept)


def left_alone(store: Store, target: str, wanted: Iterable[Change]) -> dict[str, str]:
    """Return what is not removed although the target does not have it, each with the reason."""
    then = store.meta(target)["left"]
    removed = [each.path for each in wanted if each.kind == "removed"]
    ignored = store.ignored([path.rstrip("/") for path in removed])
    return {
        path: "was too large" if path in then else "ignored"
        for path in removed
        if path in then or path.rstrip("/") in ignored
    }


def _wanted_folders(store: Store, target: str) -> set[str]:
    """The folders that stay when the last file in them is removed: they are without files at the
    target."""
    named = store.meta(target).get("folders") or ()
    return {folder for path in named for folder in (path, *folders.above(path))}


def _files_first_and_deepest(change: Change) -> tuple[bool, int]:
    return change.is_folder, -change.path.count("/")


class _Work:
    """Applies changes one by one. `folders`: those that stay even if empty."""

    def __init__(self, store: Store, folders: set[str]) -> None:
        self.blobs = _Blobs(store)
        self.done: list[Change] = []
        self.kept: dict[str, str] = {}
        self._top, self._below, self._folders = store.scope.top, store.scope.below, folders

    def apply(self, change: Change) -> None:
        path = change.path
        try:
            if change.is_folder:
                self._apply_folder(path.rstrip("/"), make=change.kind == "created")
            elif not (_stands(self._top, change) or self._is_reached(change)):
                self.kept[path] = "changed since"
                return
            elif change.kind == "removed":
                place.write(self._top, path, NOTHING)
                self._drop_empty(os.path.dirname(path))
            else:
                if change.was_blob == ABSENT:
                    _make_room(self._top, path)
                # Not durable, as git does not: the store has both contents.
                place.write(self._top, path, self._content(change), durable=False)
            self.done.append(change)
        except (Outside, OSError) as error:
            self.kept[path] = str(getattr(error, "strerror", "") or error)

    def _apply_folder(self, path: str, *, make: bool) -> None:
        if make:
            place.make_folder(self._top, path)
        else:
            self._drop_empty(path)

    def _is_reached(self, change: Change) -> bool:
        """Whether the file is restored already, under another of its names."""
        with suppress(Outside, OSError):
            content = place.read(self._top, change.path, LARGEST)
            return content.kind == FILE and blob_id(content.data) == change.now_blob
        return False

    def _content(self, change: Change) -> Content:
        data = self.blobs.read(change.now_blob)
        if change.now == LINKED:
            return Content(LINK, 0, data)
        return Content(FILE, change.now_permissions, data)

    def _drop_empty(self, folder: str) -> None:
        """Remove the folder and those around it, as far as they are empty; never the session's
        directory."""
        while folder and folder != self._below and folder not in self._folders:
            if not place.drop_folder(self._top, folder):
                return
            folder = os.path.dirname(folder)


def _stands(top: str, change: Change) -> bool:
    """Whether the path is as the snapshot of the present has it."""
    if change.is_folder:
        return True
    try:
        content = place.read(top, change.path, LARGEST)
    except IsADirectoryError:
        return change.was_blob == ABSENT
    except Outside:
        return place.is_folder(top, change.path) and change.was_blob == ABSENT
    if not content.kind or change.was_blob == ABSENT:
        return not content.kind and change.was_blob == ABSENT
    if content.kind == FILE and (content.mode ^ change.was_permissions) & 0o777:
        return False
    return (content.kind == LINK) == (change.was == LINKED) and blob_id(
        content.data
    ) == change.was_blob


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _make_room(top: str, path: str) -> None:
    """Remove empty folders that are in the place of a file. One that contains anything else stays.
    Raises Outside, OSError."""
    if place.is_folder(top, path):
        for name in place.folders_in(top, path):
            _make_room(top, f"{path}/{name}")
        place.drop_folder(top, path)


class _Blobs:
    """Reads contents by their ids, from one git process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = threading.Thread()

    def __enter__(self) -> "_Blobs":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._asking.join()
            for pipe in (self._process.stdout, self._process.stderr):
                assert pipe is not None
                pipe.close()
            self._process.wait()

    def ask(self, names: Sequence[str]) -> None:
        """Request everything that will be read, in this order: one request at a time would wait for
        each."""
        if not names:
            return
        self._process = self._store.start("cat-file", "--batch", stdin=subprocess.PIPE)
        given = self._process.stdin
        assert given is not None

        def write() -> None:
            with suppress(OSError), given:
                given.write("".join(f"{name}\n" for name in names).encode())

        self._asking = threading.Thread(target=write, daemon=True)
        self._asking.start()

    def read(self, name: str) -> bytes:
        """Return a content; those requested before it are skipped. Raises Unfit."""
        assert self._process is not None
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            about = stdout.readline().decode().split()
            if len(about) != 3:
                message = f"{name} is missing from the snapshot and cannot be restored."
                raise Unfit("damaged", message)
            data = stdout.read(int(about[2]))
            stdout.read(1)
            if about[0] == name:
                return data


def named(changes: list[Change]) -> Iterator[tuple[str, str]]:
    return ((each.kind, each.path) for each in changes)
