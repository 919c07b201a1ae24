"""All sessions of a home: listing them by their heads, resolving names to ids, and the ways to end
them that need no cooperation from the worker."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress

from rookery import client
from rookery.client import config as client_config
from rookery.client import guard, worktrees
from rookery.client.offline import check_format, fault_of, left_open, write_post_mortem
from rookery.client.start import is_awake, listener
from rookery.core.header import EMPTY
from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.core.view.fleet import bounded, head_of, is_sound, is_unread
from rookery.home import paths, resting
from rookery.home.resting import Entry
from rookery.home.seen import seen
from rookery.log.errors import Busy, LogError
from rookery.log.lock import becomes_free, is_locked
from rookery.log.reader import Reader
from rookery.processes import strays, tree

ENDS = 5.0
"""Seconds until a killed worker's lock must be free."""

TRIES, PAUSE = 10, 0.05
"""How often a directory is removed once more, and seconds between two times."""

BLOCK = 512
"""Bytes; the unit in which the system counts a file's blocks, everywhere."""


class UnknownSession(Fixed):
    """No session has that name."""

    kind = "missing"
    reason = "unknown_session"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no session {name!r}.")
        self.name = name


class Ambiguous(Fixed):
    """More than one session matches."""

    kind = "unclear"
    reason = "ambiguous"

    def __init__(self, name: str, candidates: list[Json]) -> None:
        super().__init__(f"{name!r} matches {len(candidates)} sessions.")
        self.name = name
        self.candidates = candidates


class StillAlive(Fixed):
    """A process that was killed did not exit."""

    reason = "still_alive"


def heads(home: str, *, hidden: bool = True) -> list[Json]:
    """Return the head of each session, most recently active first, with `awake` and `worker`
    (worker.json or None). An unreadable one has a stand-in: see `listed`. With `hidden=False`,
    those that lists leave out may be missing."""
    return Sessions(home).heads(hidden=hidden)


class Sessions:
    """All sessions of a home. What is known of those at rest holds as of when this is made."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._known = resting.load(home)
        self.restless: dict[str, str] = {}
        """Those whose files are to be read, with the stamps of their directories."""
        self._resting: dict[str, Entry] = {}
        place = paths.sessions(home)
        for name in paths.session_ids(home, self._known):
            stamp, entry = resting.stamp_of(f"{place}/{name}"), self._known.get(name)
            if stamp and entry is not None and entry.stamp == stamp:
                self._resting[name] = entry
            else:
                self.restless[name] = stamp

    def heads(self, *, hidden: bool = True) -> list[Json]:
        result, now = list[Json](), time.time() * 1000
        for name, entry in [*self._resting.items()]:
            if hidden or entry.until <= now:
                if head := entry.head():
                    result.append(head)
                else:
                    self.restless[name] = self._resting.pop(name).stamp
        for name, stamp in self.restless.items():
            if head := listed(self._home, name):
                result.append(head)
                if stamp and resting.rests(head):
                    self._resting[name] = resting.entry_of(self._home, head, stamp)
        if self._resting != self._known:
            resting.save(self._home, self._resting)
        return sorted(result, key=lambda head: (-head["at"], head["id"]))


def listed(home: str, session: str) -> Json | None:
    """Return a session's head; if neither its log nor its head can be read, one with `damaged`, of
    which only the id and the time are known. None if there is no such session."""
    head = head_of_session(home, session)
    if head is None and os.path.lexists(directory := paths.session_dir(home, session)):
        return _stand_in(directory, session)
    return head


def head_of_session(home: str, session: str) -> Json | None:
    """Return the head from head.json, or from the log if that is missing; None if there is no log
    either."""
    directory = paths.session_dir(home, session)
    head = paths.read_json(os.path.join(directory, paths.HEAD))
    if head is None or not is_sound(head):
        head = _rebuilt(directory)
    if head is None:
        return None
    awake = is_awake(paths.socket_path(directory))
    if not awake and head["state"] != "idle" and not is_locked(directory):
        head = _after_death(directory) or head
    head = _bounded(directory, head, awake=awake)
    worker = paths.read_json(os.path.join(directory, paths.WORKER))
    unread = is_unread(head, seen(directory))
    return head | {"id": session, "awake": awake, "worker": worker, "unread": unread}


def _bounded(directory: str, head: Json, *, awake: bool) -> Json:
    """Clamp a head's time and save it, so that a session which a wrong clock moved into the future
    grows older from now on. An awake one writes its head itself."""
    corrected = bounded(head, time.time() * 1000)
    if corrected is not head and not awake:
        with suppress(OSError):
            data = json.dumps(corrected).encode("ascii")
            paths.write_atomic(os.path.join(directory, paths.HEAD), data)
    return corrected


def _rebuilt(directory: str) -> Json | None:
    try:
        with Reader.open(directory) as log:
            last = log.read(log.last_seq() - 1)
            if not last:
                return None
            header = log.header()
    except (LogError, OSError):
        return None
    if not header.id:  # its first event is gone
        return None
    head = head_of(header, last[-1].seq, last[-1].at)
    with suppress(OSError):  # of a home that cannot be written, the next look folds it again
        client.create.write_head(directory, header, last[-1].seq, last[-1].at)
    return head


def _after_death(directory: str) -> Json | None:
    """Write the post-mortem of a worker that died in mid-turn: merely listing sessions discovers
    it."""
    with suppress(Busy, LogError, OSError):  # the last: of a home that can only be read
        write_post_mortem(directory)
    head = paths.read_json(os.path.join(directory, paths.HEAD))
    return head if head is not None and is_sound(head) else None


def _stand_in(directory: str, name: str) -> Json:
    at = 0
    with suppress(OSError):
        at = int(os.lstat(directory).st_mtime * 1000)
    head = head_of(EMPTY.with_(id=name, created=at, since=at), 0, at)
    awake = is_awake(paths.socket_path(directory))
    return head | {"awake": awake, "worker": None, "unread": False, "damaged": True}


def find(home: str, name: str) -> str:
    """Return the session with that id, unique prefix of an id, or title. Raises UnknownSession,
    Ambiguous."""
    if paths.is_id(name) and os.path.isdir(paths.session_dir(home, name)):
        return name
    return named(name, heads(home))


def named(name: str, known: list[Json]) -> str:
    """Resolve a name like `find`, among sessions that were already listed."""
    if any(head["id"] == name for head in known):
        return name
    lowered = name.lower()
    tries = (
        [head for head in known if name and head["id"].startswith(lowered)],
        [head for head in known if head["title"] == name],
        [head for head in known if name and lowered in head["title"].lower()],
    )
    for matches in tries:
        if len(matches) == 1:
            return str(matches[0]["id"])
        if matches:
            raise Ambiguous(name, matches)
    raise UnknownSession(name)


def kill(home: str, session: str) -> list[str]:
    """End a session's processes whatever state they are in, then record in its log what happened.
    Returns what could not be ended because it belongs to another user. Raises FromAgent."""
    guard.require_person(home, "stop sessions")
    directory = paths.session_dir(home, session)
    worker = paths.read_json(os.path.join(directory, paths.WORKER)) or {}
    if is_locked(directory):
        pid = _kill_worker(directory, worker)
        if not becomes_free(directory, ENDS):
            fault = fault_of(home, session)
            if fault and not fault.damaged:
                raise StillAlive(f"{session} cannot be ended: {fault}")
            raise StillAlive(f"The session's lock is still held; worker.json says pid {pid}.")
    refused = _sweep(home, session, worker)
    _note_end(home, directory, worker)
    with suppress(Busy, LogError, OSError):  # damaged, or on a full disk: it is ended all the same
        with Reader.open(directory) as log:
            header = log.header()
        if left_open(header):
            write_post_mortem(directory)
    return refused


def _kill_worker(directory: str, worker: Json) -> int:
    """Kill the worker and return its pid. worker.json may be of an earlier one, if the disk was
    full."""
    process = tree.Process(lenient.integer(worker, "pid") or 0, lenient.text(worker, "start"))
    if not tree.alive(process.pid, process.start):
        pid = listener(paths.socket_path(directory))
        process = tree.Process(pid, tree.start_time(pid) or "")
    if process.pid and process.start:
        # The warden, seeing its worker die, ends everything below it.
        tree.kill([process])
    return process.pid


def _sweep(home: str, session: str, worker: Json) -> list[str]:
    """End what is left below the warden, and whatever else is known to belong to the session. A
    warden that does not exit is hung itself."""
    swept = strays.sweep(home, {session})
    pid, start = worker.get("warden"), worker.get("wardenStart")
    if isinstance(pid, int) and isinstance(start, str):
        warden = tree.Process(pid, start)
        below = [] if swept.refused else tree.wait_gone([warden], ENDS)
        if below:
            tree.kill([warden, *tree.descendants(pid)])
    return [str(stray) for stray in swept.refused]


def _note_end(home: str, directory: str, worker: Json) -> None:
    """Record for a dead worker that it ended, and what its agent wrote to the settings. Anything
    written from now on counts as the user's."""
    client_config.in_force.note(home)
    if worker and not worker.get("ended"):
        ended = json.dumps(worker | {"ended": time.time_ns() // 1_000_000}).encode("ascii")
        with suppress(OSError):
            paths.write_atomic(os.path.join(directory, paths.WORKER), ended, 0o600)


def remove(
    home: str,
    session: str,
    stays: Callable[[str], object] = lambda _: None,
    *,
    force: bool = False,
) -> str:
    """Delete a session and everything kept about it. Its agent deletes it first, then its worker is
    ended, then its earlier agents delete it. `stays` gets what could not be deleted. `force`: also
    delete a worktree with unmerged work; otherwise raises Unmerged. Raises FromAgent,
    UnknownSession.

    Returns the outcome of asking the agent ("" if there was nothing to ask)."""
    guard.require_person(home, "delete sessions")
    check_format(home)
    directory = paths.session_dir(home, session)
    worktrees.drop.refuse_loss(home, session, force=force)
    kept = client.deletion.conversations_of(directory)
    outcome = client.deletion.ask_agent_to_delete(home, session)
    if client.deletion.went_wrong(outcome):
        stays(outcome)
    if outcome:
        becomes_free(directory, ENDS)  # it ends by itself now, and what it started with it
    kill(home, session)
    if not os.path.lexists(directory):  # somebody moved it to the trash: it can be restored
        raise UnknownSession(session)
    worktrees.drop.refuse_loss(home, session, force=force)  # it may have worked on until it ended
    worktrees.drop.drop_recorded(home, session)
    for failure in client.deletion.forget(home, directory, kept):
        stays(failure)
    client.deletion.strike(home, session)
    with suppress(FileNotFoundError):
        os.unlink(paths.socket_path(directory))
    _remove_directory(directory)
    return outcome


def _remove_directory(directory: str) -> None:
    """Delete a session's directory. Somebody listing sessions may read its log meanwhile, which
    leaves SQLite's files behind."""
    import shutil

    for left in range(TRIES, -1, -1):
        try:
            shutil.rmtree(directory)
        except OSError:
            if not left and os.path.isdir(directory):
                raise
        if not os.path.isdir(directory):
            return
        time.sleep(PAUSE)


def size_of(path: str) -> int:
    """Return the bytes on disk of a file, or of a directory with all that is in it; 0 if it is
    gone."""
    try:
        taken = os.lstat(path).st_blocks * BLOCK
    except OSError:
        return 0
    if os.path.islink(path) or not os.path.isdir(path):
        return taken
    for directory, below, files in os.walk(path):
        for name in (*below, *files):
            try:
                taken += os.lstat(os.path.join(directory, name)).st_blocks * BLOCK
            except OSError:  # it went meanwhile
                continue
    return taken


def is_in_use(home: str, head: Json) -> bool:
    """Tell whether a session is awake, or about to be: its lock is held."""
    return bool(head["awake"]) or is_locked(paths.session_dir(home, head["id"]))
