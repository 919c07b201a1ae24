"""The changes of a session according to its snapshots: only what its own turns did, even if the
user and other sessions work in the same directory.

Each turn is a step from the snapshot at its prompt to the one at its end. If another session's turn
ran at the same time, a file that only that session's calls name counts as changed by it."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rookery.client.environment import kept_of
from rookery.client.rewind import origins
from rookery.client.rewind.acts import Act, acts, steps
from rookery.client.rewind.turns import snapshot_file_bytes
from rookery.client.work_tree.changes import Changes, NoDiff, changes, parsed
from rookery.core.json import Event, Json, lenient
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.merging.session import changes_of
from rookery.snapshots import between, job
from rookery.snapshots.job import NOW
from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import Store


class NoSnapshots(Exception):
    """Raised if there are no snapshots; the message says why."""


class Changed(NamedTuple):
    changes: Changes
    of: str
    """Whose changes these are: of the session, of its worktree, or of the directory."""
    note: str = ""
    """What a reader has to know about that."""


def changed(home: str, head: Json) -> Changed:
    """Return what a session changed: since its worktree was made, if it has one; else by its
    snapshots; without snapshots, all that differs in its directory. Raises NoDiff, NoWorktree,
    LogError."""
    tree = head.get("worktree")
    if isinstance(tree, dict) and tree.get("path"):
        return Changed(changes_of(head), "worktree")
    try:
        return _by_snapshots(home, str(head["id"]))
    except (NoSnapshots, Unfit, OSError) as error:
        cwd = str(head["cwd"])
        why = f"It is not known what this session alone changed. {error}"
        try:
            uncommitted = changes(cwd)
        except NoDiff as other:
            raise NoDiff(other.reason, f"{why} {other}") from None
        return Changed(
            uncommitted, "directory", f"{why} These are all changes in {cwd} since the last commit."
        )


def changed_alone(home: str, session: str, turn: int | None = None) -> Changed:
    """Return what a session changed, by snapshots only; `turn`: what that turn changed, even if it
    was rewound since. Each file's digest is what the store calls its content. Raises NoDiff."""
    try:
        change_set = _by_snapshots(home, session, turn)
    except (NoSnapshots, Unfit, LogError, OSError) as error:
        whose = "this session alone" if turn is None else f"turn {turn}"
        message = f"It is not known what {whose} changed. {error}"
        raise NoDiff("no_snapshot", message) from None
    files = [file._replace(digest=file.blob) for file in change_set.changes.files]
    return change_set._replace(changes=change_set.changes._replace(files=files))


def content(home: str, session: str, blob: str) -> bytes:
    """Return the content of a file in such changes. Raises NoDiff."""
    directory = paths.session_dir(home, session)
    try:
        with Reader.open(directory) as log:
            cwd = log.header().cwd
        with _opened(home, directory, cwd) as (store, _):
            return store.git("cat-file", "blob", blob)
    except (NoSnapshots, Unfit, LogError, OSError) as error:
        raise NoDiff("no_snapshot", f"The file could not be read. {error}") from None


def _by_snapshots(home: str, session: str, turn: int | None = None) -> Changed:
    directory = paths.session_dir(home, session)
    with Reader.open(directory) as log:
        header = log.header()
        events = log.of_kinds(rewinding.SNAPSHOT, rewinding.KIND)
        taken = _taken(events, header.turn, turn)
        if not taken and (header.turn if turn is None else turn):
            raise NoSnapshots(_why_none(events))
        spans = origins.spans(log, [step.turn for step in taken])
        rivals = origins.rivals(home, session, header.cwd, spans)
        own = {turn: origins.calls(log, turn) for turn in rivals}
    theirs = set[str]()

    def is_own(number: int, path: str) -> bool:
        turn, name = taken[number].turn, os.path.basename(path)
        named = [other for other, text in rivals.get(turn, {}).items() if name in text]
        if not named or name in own[turn]:
            return True
        theirs.update(named)
        return False

    data = _difference(home, directory, header.cwd, taken, is_own) if taken else b""
    names = ", ".join(sorted(theirs))
    note = f"Without what others changed here at the same time ({names})." if theirs else ""
    return Changed(parsed(data), "session", note)


def _taken(events: Sequence[Event], last: int, turn: int | None) -> list[Act]:
    if turn is None:
        return steps(events, last)
    return [act for act in acts(events, last) if act.turn == turn and not act.is_rewind]


def _difference(
    home: str, directory: str, cwd: str, taken: Sequence[Act], is_own: between.Mine
) -> bytes:
    """Return the patch of the steps. Raises NoSnapshots, Unfit, OSError."""
    with _opened(home, directory, cwd) as (store, request):
        needs_now = any(step.after == NOW for step in taken)
        now = store.take(request["most"]).id if needs_now else ""
        pairs = [(step.before, now if step.after == NOW else step.after) for step in taken]
        return between.difference(store, pairs, is_own)


@contextmanager
def _opened(home: str, directory: str, cwd: str) -> Iterator[tuple[Store, dict[str, Any]]]:
    """Yield the store, and what it was opened with. Raises NoSnapshots, Unfit, OSError."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    request = job.request(directory, cwd, kept_of(saved), snapshot_file_bytes(home))
    if request is None:
        raise NoSnapshots(job.NO_GIT)
    place = (request[key] for key in ("store", "git", "root", "home", "environment"))
    with Store.opened(*place) as store:
        yield store, request


def _why_none(events: Iterable[Event]) -> str:
    refused = [lenient.text(event.update, "message") for event in events]
    return next(filter(None, reversed(refused)), "There are no snapshots of it (worker.snapshots).")
