"""Branches and races of a Rookery, wherever it is: this machine's directly, another's through its
daemon. What is changed there is changed once, however often the request has to be sent."""

import os
import time

from rookery.client.daemon.errors import Unreachable
from rookery.client.daemon.remote import Door, of_session
from rookery.core.json import Json
from rookery.operations.calling.interface import Rookery
from rookery.operations.calling.local import LocalRookery
from rookery.operations.calling.remote import RemoteRookery
from rookery.operations.merging import race as races
from rookery.operations.merging import session as branch
from rookery.operations.merging.race import Runner

AGAIN, PATIENCE = 0.5, 60.0
"""Seconds between two tries to reach a daemon that was there before, and for all of them."""


def move(rookery: Rookery, session: str, name: str = "", *, cancel: bool = False) -> Json:
    """Give a session a worktree of its own. Raises NoWorktree, FromAgent, RemoteError."""
    if isinstance(rookery, RemoteRookery):
        body = {"name": name, "cancel": cancel}
        return _once(rookery.door, of_session(session, "/move"), body)
    from rookery.operations.merging.move import move_session

    return move_session(_home(rookery), session, name, cancel=cancel)


def drop(rookery: Rookery, session: str, *, force: bool = False) -> None:
    if isinstance(rookery, RemoteRookery):
        _once(rookery.door, of_session(session, "/drop"), {"force": force})
    else:
        branch.drop_session(_home(rookery), session, force=force)


def race(rookery: Rookery, name: str = "") -> tuple[str, list[Runner]]:
    """Its id, and its sessions compared; by default, of the latest one. Raises NoRace."""
    if isinstance(rookery, RemoteRookery):
        said = rookery.door.json("GET", f"/api/races/{name or races.LATEST}")
        fields = Runner._fields
        rows = [Runner(**{key: row[key] for key in fields}) for row in said["sessions"]]
        return str(said["id"]), rows
    return races.table(_home(rookery), name)


def pick(rookery: Rookery, session: str, how: str = "merge", message: str = "") -> Json:
    """Merge one and drop the rest: `merged`, as `told` says it, and the ids of those `dropped`."""
    if isinstance(rookery, RemoteRookery):
        body = {"session": session, "how": how, "message": message}
        return _once(rookery.door, "/api/races/pick", body)
    return races.pick(_home(rookery), session, how, message)


def drop_race(rookery: Rookery, name: str) -> list[str]:
    if isinstance(rookery, RemoteRookery):
        return list(_once(rookery.door, "/api/races/drop", {"race": name})["dropped"])
    return races.drop(_home(rookery), name)


def _home(rookery: Rookery) -> str:
    assert isinstance(rookery, LocalRookery)
    return rookery.home


def _once(door: Door, path: str, body: Json) -> Json:
    """Asked again with the same key, the daemon says what came of it the first time."""
    key, until = os.urandom(16).hex(), time.monotonic() + PATIENCE
    while True:
        try:
            return dict(door.json("POST", path, body, Idempotency_Key=key))
        except Unreachable as error:
            if not (error.sent or door.stood) or time.monotonic() > until:
                raise
        time.sleep(AGAIN)
