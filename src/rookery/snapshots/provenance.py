"""Who changed the paths that a rewind would change: whether the session's own acts, from the target
to the present, account for everything that happened to one, and which paths a commit has changed
since."""

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rookery.git import places, shadow
from rookery.git.program import NoGit
from rookery.snapshots.job import EMPTY, NOW
from rookery.snapshots.meta import Meta
from rookery.snapshots.restore import REPOSITORY, Change, permissions
from rookery.snapshots.store import NO_FILES, Store, split

SECONDS = 30.0


class State(NamedTuple):
    """The state of a path at some moment."""

    mode: str
    blob: str
    permissions: int


class Trace(NamedTuple):
    acts: list[int]
    """The numbers of those that changed the path."""
    whole: bool
    """Nobody else did: each act found what the one before it had left, and so it is still."""


class _Snapshot(NamedTuple):
    tree: str
    meta: dict[str, Any]


def traces(
    store: Store, changes: Sequence[Change], acts: Sequence[tuple[str, str, bool]], present: str
) -> dict[str, Trace]:
    """Return a trace of each path. `acts`: in order, since the target: the snapshots before and
    after (NOW: the present), and whether it ended half-way. Raises Unfit."""
    by_path = {each.path: Trace([], whole=True) for each in changes}
    states = {each.path: {State(each.now, each.now_blob, each.now_permissions)} for each in changes}
    pairs = [(before, present if after == NOW else after) for before, after, _ in acts]
    known = _snapshots(store, {name for pair in pairs for name in pair})
    for number, steps in _differences(store, pairs, known):
        is_half = acts[number][2]
        for path, (was, now) in steps.items():
            if path not in by_path:
                continue
            trace, before = by_path[path], states[path]
            trace.acts.append(number)
            if was not in before and not path.endswith("/"):
                by_path[path] = trace._replace(whole=False)
            states[path] = {was, now} if is_half else {now}
    for each in changes:
        last = State(each.was, each.was_blob, each.was_permissions)
        if not each.is_folder and last not in states[each.path]:
            by_path[each.path] = by_path[each.path]._replace(whole=False)
    return by_path


def _snapshots(store: Store, names: Iterable[str]) -> dict[str, _Snapshot]:
    """Those of the snapshots that exist."""
    blobs = sorted({*names} - {EMPTY})
    output = store.git("cat-file", "--batch", given="".join(f"{each}\n" for each in blobs).encode())
    snapshots = {EMPTY: _Snapshot(NO_FILES, Meta().of_commit())}
    at = 0
    for name in blobs:
        end = output.index(b"\n", at)
        about = output[at:end].split()
        at = end + 1
        if len(about) == 3 and about[1] == b"commit":
            text = output[at : at + int(about[2])]
            tree = text.partition(b"\n")[0].split()[1].decode()
            snapshots[name] = _Snapshot(tree, json.loads(text.partition(b"\n\n")[2]))
        if len(about) == 3:
            at += int(about[2]) + 1
    return snapshots


type _Steps = dict[str, tuple[State, State]]


def _differences(
    store: Store, pairs: Sequence[tuple[str, str]], known: dict[str, _Snapshot]
) -> Iterator[tuple[int, _Steps]]:
    """Yield the changes between the two of each pair, with its number. Pairs that are gone or equal
    are skipped."""
    looked = [
        (number, known[before], known[after])
        for number, (before, after) in enumerate(pairs)
        if before != after and before in known and after in known
    ]
    trees = "".join(f"{before.tree} {after.tree}\n" for _, before, after in looked)
    args = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    parts = _parts(store.git(*args, given=trees.encode())) if looked else iter(())
    for (number, before, after), rows in zip(looked, parts, strict=True):
        steps: _Steps = {}
        modes = before.meta["modes"], after.meta["modes"]
        for path, (was, now, was_blob, now_blob) in rows:
            if REPOSITORY not in (was, now):
                steps[path] = (
                    State(was, was_blob, permissions(was, modes[0].get(path))),
                    State(now, now_blob, permissions(now, modes[1].get(path))),
                )
        for path in (modes[0].keys() | modes[1].keys()) - steps.keys():
            noted = modes[0].get(path), modes[1].get(path)
            if noted[0] != noted[1]:
                steps |= _same_file(store, after.tree, path, noted)
        for path in {*before.meta.get("folders", ())} ^ {*after.meta.get("folders", ())}:
            steps[f"{path}/"] = (State("", "", 0), State("", "", 0))
        yield number, steps


def _same_file(store: Store, tree: str, path: str, noted: tuple[int | None, int | None]) -> _Steps:
    """A file of which only permissions changed that git does not store."""
    row = store.git("ls-tree", "-z", "--full-tree", tree, "--", path).partition(b"\t")[0]
    if not row:
        return {}
    mode, _, blob = row.decode().split(" ")
    was, now = (State(mode, blob, permissions(mode, each)) for each in noted)
    return {path: (was, now)}


type _Row = tuple[str, tuple[str, str, str, str]]


def _parts(output: bytes) -> Iterator[list[_Row]]:
    """For each pair of trees: a line that names them, and the rows of what differs."""
    rows: list[_Row] | None = None
    fields = iter(output.split(b"\0"))
    for field in fields:
        *heads, about = field.split(b"\n")
        for _ in heads:
            if rows is not None:
                yield rows
            rows = []
        if about and rows is not None:
            was, now, was_blob, now_blob, _ = about.decode().lstrip(":").split(" ")
            rows.append((os.fsdecode(next(fields)), (was, now, was_blob, now_blob)))
    if rows is not None:
        yield rows


# --- commits -------------------------------------------------------------------------------------


def committed(store: Store, target: str, changes: Iterable[Change]) -> set[str] | None:
    """Return the paths that a commit has changed since a snapshot, except those that are the same
    in the snapshot as in the last commit. None if git cannot tell."""
    place = places.find(store.scope.top) if store.scope.repository else None
    blobs = {each.path: each.now_blob for each in changes if not each.is_folder}
    if place is None or not blobs:
        return set()
    try:
        with shadow.opened(place, home=store.home, given=store.environment) as git:
            now = _asked(git, store.scope.top, "rev-parse", "--verify", "-q", "HEAD").strip()
            then = _commit_of(store, git, target)
            if not now or then == now.decode():
                return set()
            args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
            output = _asked(git, store.scope.top, *args, then or NO_FILES, now.decode())
    except (NoGit, OSError, subprocess.SubprocessError):
        return None
    fields, changed_paths = iter(split(output)), set[str]()
    for about in fields:
        blob, path = about.split(" ")[3], next(fields)
        if path in blobs and blobs[path] != blob:
            changed_paths.add(path)
    return changed_paths


def _commit_of(store: Store, git: shadow.Shadow, snapshot: str) -> str:
    """The commit that was checked out then; if the snapshot does not record it, the last commit
    before it."""
    if snapshot == EMPTY:
        return ""
    head = store.meta(snapshot).get("head")
    if isinstance(head, str):
        return head
    about = store.git("cat-file", "commit", snapshot).split(b"\ncommitter ")[1].split(b"\n")[0]
    at = about.split()[-2].decode()
    args = ("rev-list", "-1", f"--before={at}", "HEAD")
    return _asked(git, store.scope.top, *args).decode().strip()


def _asked(git: shadow.Shadow, top: str, *args: str) -> bytes:
    """Run git and return its output. Raises SubprocessError, OSError, NoGit."""
    with git.start(top, args) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    if process.returncode not in (0, 1):
        raise subprocess.CalledProcessError(process.returncode, args)
    return output


def ignored(store: Store, most: int) -> list[str]:
    """Return the first of the paths that the rules leave out, folders as a whole."""
    args = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    paths = split(store.git(*args, "--", store.scope.below or "."))
    return [path for path in paths if path.rstrip("/") != ".git"][: most + 1]
