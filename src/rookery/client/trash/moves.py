"""Moving sessions to the trash, restoring them, and deleting them permanently: called by every
face."""

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from rookery.client import deletion, fleet
from rookery.client.daemon.origin import run
from rookery.client.offline import check_format
from rookery.client.session import SessionClient
from rookery.client.start import connectable
from rookery.client.trash import branch, store
from rookery.client.trash.store import Entry, TrashError
from rookery.client.worktrees import drop, place
from rookery.core.json import Json, lenient
from rookery.core.refusals import Refused
from rookery.home import paths
from rookery.log.lock import becomes_free

type Report = Callable[[str], object]


class Restored(NamedTuple):
    session: str
    missing: str
    """What could not be restored with it, in words; "": nothing."""


def remove(home: str, session: str, *, force: bool = False) -> Entry:
    """Move a session to the trash: its worker is ended first. `force`: also if its worktree has
    unmerged work; otherwise raises Unmerged. Raises UnknownSession, TrashError."""
    check_format(home)
    directory = paths.session_dir(home, session)
    drop.refuse_loss(home, session, force=force)
    _stop(home, session)
    fleet.kill(home, session)
    drop.refuse_loss(home, session, force=force)  # it may have worked on until it ended
    try:
        entry = store.put(home, session)
    except FileNotFoundError:
        raise fleet.UnknownSession(session) from None
    with suppress(FileNotFoundError):
        os.unlink(paths.socket_path(directory))
    return entry


def _stop(home: str, session: str) -> None:
    """Let the worker end the turn and the agent, if it answers."""
    directory = paths.session_dir(home, session)
    if not connectable(paths.socket_path(directory)):
        return

    async def stop() -> None:
        with SessionClient(home, session) as client:
            async with asyncio.timeout(deletion.ANSWER):
                await client.send({"do": "stop"})

    with suppress(Refused, OSError):
        run(stop())
        becomes_free(directory, fleet.ENDS)


def listed(home: str) -> list[Json]:
    """Return what can be restored, newest first."""
    return [_row(entry) for entry in store.entries(home)]


def _row(entry: Entry) -> Json:
    head = paths.read_json(os.path.join(entry.directory, paths.HEAD)) or {}
    about = {key: lenient.text(head, key) for key in ("title", "agent", "cwd")}
    return {
        "id": entry.session,
        **about,
        "removed": entry.at,
        "until": entry.until,
        "branch": lenient.text(entry.tree(), "branch"),
        "bytes": fleet.size_of(entry.directory) + fleet.size_of(entry.worktree),
    }


def find(home: str, name: str) -> Entry:
    """Return the entry of the session with that id, unique prefix of an id, or title; the newest,
    if the id occurs twice. Raises TrashError, Ambiguous."""
    by_session: dict[str, Entry] = {}
    for entry in store.entries(home):
        by_session.setdefault(entry.session, entry)
    heads = [
        {
            "id": entry.session,
            "title": lenient.text(paths.read_json(f"{entry.directory}/{paths.HEAD}"), "title"),
        }
        for entry in by_session.values()
    ]
    try:
        return by_session[fleet.named(name, heads)]
    except fleet.UnknownSession:
        raise not_there(name) from None


def not_there(name: str) -> TrashError:
    message = f"There is no session {name!r} in the trash."
    return TrashError("not_in_trash", message, kind="missing")


def restore(home: str, name: str) -> Restored:
    """Restore a session from the trash. Raises TrashError, Ambiguous."""
    check_format(home)
    store.mend(home)
    entry = find(home, name)
    missing = store.restore(entry)
    head = paths.read_json(os.path.join(paths.session_dir(home, entry.session), paths.HEAD))
    cwd = lenient.text(head, "cwd")
    if cwd and not missing and not os.path.isdir(cwd):
        missing = f"Its directory {cwd} is gone."
    return Restored(entry.session, missing)


def delete(home: str, name: str, stays: Report = lambda _: None) -> str:
    """Permanently delete a session in the trash; return its id. Raises TrashError, Ambiguous."""
    check_format(home)
    entry = find(home, name)
    erase(entry, stays)
    return entry.session


def empty(home: str, stays: Report = lambda _: None) -> list[str]:
    """Permanently delete all sessions in the trash; return their ids."""
    check_format(home)
    return erase_all(store.entries(home), stays)


def erase_all(entries: Iterable[Entry], stays: Report = lambda _: None) -> list[str]:
    gone: list[str] = []
    for entry in entries:
        with suppress(TrashError):  # somebody else restored or deleted it
            erase(entry, stays)
            gone.append(entry.session)
    return gone


def erase(entry: Entry, stays: Report = lambda _: None) -> None:
    """Permanently delete a session. It leaves the trash at once; if the process is killed,
    `clear_leftovers` deletes the rest. `stays` gets what could not be deleted. Raises TrashError.
    """
    with store.held(entry.home):
        try:
            os.rename(entry.directory, entry.deleted)
        except FileNotFoundError:
            raise not_there(entry.session) from None
    clear(entry, stays)


def clear_leftovers(home: str) -> None:
    """Finish the deletions of killed processes. Raises OSError."""
    for name in store.names(home):
        if name.endswith(store.DELETED) and (
            entry := store.entry_of(home, name.removesuffix(store.DELETED))
        ):
            clear(entry)


def clear(entry: Entry, stays: Report = lambda _: None) -> None:
    """Have the agents delete the session, then delete its files. Does nothing if another process is
    doing it."""
    try:
        folder = os.open(entry.deleted, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        conversations = deletion.conversations_of(entry.deleted, last_too=True)
        for failure in deletion.forget(entry.home, entry.deleted, conversations):
            stays(failure)
        if not os.path.isdir(paths.session_dir(entry.home, entry.session)):
            deletion.strike(entry.home, entry.session)
        if (tree := entry.tree()) is not None:
            branch.erase(entry.name, tree)
        for path in (entry.worktree, entry.deleted):
            if os.path.lexists(path):
                place.erase(path)
    except BlockingIOError:
        return
    finally:
        os.close(folder)
