"""What a session changed, by its snapshots: only what its own turns did, also where the user and
other sessions work in the same directory.

Each turn is a step from the snapshot at its prompt to the one at its end. Where another session's
turn ran at the same time, a file that only that session's calls name is taken for its doing.
"""

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.client.branches.session import changes_of
from rookery.client.environment import kept_of
from rookery.client.rewind import origins
from rookery.client.rewind.acts import Act, steps
from rookery.client.rewind.turns import snapshot_file_bytes
from rookery.client.work_tree.changes import Changes, NoDiff, changes, parsed
from rookery.core.json import Event, Json, lenient
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.snapshots import between, job
from rookery.snapshots.job import NOW
from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import Store


class NoSnapshots(Exception):
    """The message says why there are none."""


class Changed(NamedTuple):
    changes: Changes
    of: str
    """Whose changes these are: of the session, of its worktree, or of the directory."""
    note: str = ""
    """What a reader has to know about that."""


def changed(home: str, head: Json) -> Changed:
    """What a session changed; of one with a worktree, since that was made; where there are no
    snapshots, all that differs in its directory. Raises NoDiff, NoWorktree, LogError."""
    tree = head.get("worktree")
    if isinstance(tree, dict) and tree.get("path"):
        return Changed(changes_of(head), "worktree")
    try:
        return _by_snapshots(home, str(head["id"]))
    except (NoSnapshots, Unfit, OSError) as error:
        cwd = str(head["cwd"])
        why = f"It is not known what this session alone changed. {error}"
        try:
            found = changes(cwd)
        except NoDiff as other:
            raise NoDiff(other.name, f"{why} {other}") from None
        return Changed(
            found, "directory", f"{why} These are all changes in {cwd} since the last commit."
        )


def _by_snapshots(home: str, session: str) -> Changed:
    directory = paths.session_dir(home, session)
    with Reader.open(directory) as log:
        header = log.header()
        found = log.of_kinds(rewinding.SNAPSHOT, rewinding.KIND)
        taken = steps(found, header["turn"])
        if not taken and header["turn"]:
            raise NoSnapshots(_why_none(found))
        spans = origins.spans(log, [step.turn for step in taken])
        rivals = origins.rivals(home, session, header["cwd"], spans)
        own = {turn: origins.calls(log, turn) for turn in rivals}
    theirs = set[str]()

    def is_own(number: int, path: str) -> bool:
        turn, name = taken[number].turn, os.path.basename(path)
        named = [other for other, text in rivals.get(turn, {}).items() if name in text]
        if not named or name in own[turn]:
            return True
        theirs.update(named)
        return False

    data = _difference(home, directory, header["cwd"], taken, is_own) if taken else b""
    names = ", ".join(sorted(theirs))
    note = f"Without what others changed here at the same time ({names})." if theirs else ""
    return Changed(parsed(data), "session", note)


def _difference(
    home: str, directory: str, cwd: str, taken: Sequence[Act], is_own: between.Mine
) -> bytes:
    """Raises NoSnapshots, Unfit, OSError."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    request = job.request(directory, cwd, kept_of(saved), snapshot_file_bytes(home))
    if request is None:
        raise NoSnapshots(job.NO_GIT)
    place = (request[key] for key in ("store", "git", "root", "home", "environment"))
    with Store.opened(*place) as store:
        needs_now = any(step.after == NOW for step in taken)
        now = store.take(request["most"]).id if needs_now else ""
        pairs = [(step.before, now if step.after == NOW else step.after) for step in taken]
        return between.difference(store, pairs, is_own)


def _why_none(events: Iterable[Event]) -> str:
    refused = [lenient.text(event.update, "message") for event in events]
    return next(filter(None, reversed(refused)), "There are no snapshots of it (worker.snapshots).")
