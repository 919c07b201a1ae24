"""Ends processes left running by workers that were killed together with their wardens. Called when
sessions are listed, a worker is started, or `doctor` runs.

Only for a session whose lock is free, which is held meanwhile, and whose warden is not still
cleaning up. What was ended is noted in the session's log; a client may report it, too."""

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from rookery.client.offline import note
from rookery.core.json import Draft, Json, notice
from rookery.home import paths
from rookery.log.errors import Busy, LogError
from rookery.log.lock import Lock, is_locked
from rookery.processes import roots, strays, tree
from rookery.processes.lineage import MARK
from rookery.processes.strays import Stray

BY = "sweep"


class Leftover(NamedTuple):
    session: str
    ended: list[Stray]
    refused: list[Stray]

    def __str__(self) -> str:
        return summary(self.ended, self.refused, f"session {self.session}")


def summary(ended: list[Stray], refused: list[Stray], whose: str) -> str:
    sentences = []
    if ended:
        sentences.append(f"Ended leftovers of a killed worker of {whose}: {strays.summary(ended)}.")
    if refused:
        left = strays.summary(refused)
        sentences.append(f"Still running, because it belongs to another user: {left}.")
    return " ".join(sentences)


def draft(ended: list[Stray], refused: list[Stray]) -> Draft:
    text = summary(ended, refused, "this session")
    return Draft(notice(text, "info"), None, BY)


def end_leftovers(home: str, heads: Iterable[Json] = ()) -> list[Leftover]:
    """End the leftovers and return them. `heads`: sessions whose worker.json was read just now;
    without them, the sessions checked are those with an agent still recorded. A process started by
    an agent ends nothing: it may be a leftover itself."""
    if MARK in os.environ:
        return []
    suspects = _recorded(home) | {head["id"] for head in heads if _died(head)}
    if not suspects:
        return []
    alive = {stray.session for stray in strays.find(home, suspects)}
    done = [_end(home, session, there=session in alive) for session in sorted(suspects)]
    roots.clean(home)
    return [each for each in done if each is not None and (each.ended or each.refused)]


def _recorded(home: str) -> set[str]:
    known = {mark.rpartition(".")[0] for mark in roots.marks(home)}
    return {
        session
        for session in known
        if paths.is_id(session)
        and os.path.isdir(directory := paths.session_dir(home, session))
        and not is_locked(directory)
    }


def _died(head: Json) -> bool:
    """Whether the last worker did not end by itself, and nothing was swept since."""
    worker = head.get("worker")
    return bool(worker and not head["awake"] and not worker.get("ended") and "swept" not in worker)


def _end(home: str, session: str, *, there: bool) -> Leftover | None:
    directory = paths.session_dir(home, session)
    try:
        lock = Lock.acquire(os.path.join(directory, paths.LOCK), wait=0)
    except (Busy, OSError):
        return None  # it is awake, or a worker is about to be
    try:
        worker = paths.read_json(os.path.join(directory, paths.WORKER)) or {}
        if is_ending(worker):
            return None
        swept = strays.sweep(home, {session}) if there else strays.Swept([], [])
        if worker and not worker.get("ended"):
            _note_swept(directory, worker)
    finally:
        lock.release()
    if swept.ended or swept.refused:
        with suppress(Busy, LogError, OSError):
            note(directory, draft(*swept), wait=1.0)
    return Leftover(session, *swept)


def is_ending(worker: Json) -> bool:
    """Tell whether a warden is alive that is still ending what its worker left."""
    warden, start = worker.get("warden"), worker.get("wardenStart")
    return isinstance(warden, int) and isinstance(start, str) and tree.alive(warden, start)


def _note_swept(directory: str, worker: Json) -> None:
    """Note the sweep, so that the next caller need not search all processes again."""
    now = time.time_ns() // 1_000_000
    with suppress(OSError):
        data = json.dumps(worker | {"swept": now}).encode("ascii")
        paths.write_atomic(os.path.join(directory, paths.WORKER), data, 0o600)
