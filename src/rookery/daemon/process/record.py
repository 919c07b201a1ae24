"""Which daemon serves a home: a lock that the kernel releases, and a record that others can
read."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.build import build
from rookery.client.daemon import local as daemon
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.daemon.options import Options
from rookery.home import paths
from rookery.log.errors import Busy
from rookery.log.lock import Lock
from rookery.processes import tree


@contextmanager
def only_one(home: str) -> Iterator[Lock]:
    """Hold the home's lock while a daemon serves it. Raises Refused."""
    try:
        paths.ensure_home(home)
    except paths.PathError as error:
        raise Refused("unusable_home", str(error)) from error
    paths.make_private(os.path.join(home, "run"))
    try:
        lock = Lock.acquire(os.path.join(home, daemon.LOCK), 1.0)
    except Busy:
        raise already_running(home, daemon.record(home) or {}) from None
    try:
        yield lock
    finally:
        with suppress(OSError):
            os.unlink(os.path.join(home, daemon.RECORD))
        lock.release()


def already_running(home: str, record: Json) -> Refused:
    where = f" at {record['address']}" if record.get("address") else ""
    return Refused(
        "already_running",
        f"A daemon already serves {home}{where}. To stop it: rookery serve --stop",
    )


def write(home: str, options: Options, socket: str, control: str, *, background: bool) -> Json:
    record: Json = {
        "pid": os.getpid(),
        "start": tree.start_time(os.getpid()),
        "build": build(),
        "since": time.time_ns() // 1_000_000,
        "address": options.address,
        "socket": socket,
        "control": control,
        "background": background,
        "options": options.json(),
    }
    _put(home, record)
    return record


def keep(home: str, record: Json, lock: Lock) -> None:
    """Write the record again if it was replaced or removed. Raises OSError."""
    current = paths.read_json(os.path.join(home, daemon.RECORD)) or {}
    if any(current.get(key) != record[key] for key in ("pid", "start")) and lock.stands():
        _put(home, record)


def _put(home: str, record: Json) -> None:
    paths.write_atomic(os.path.join(home, daemon.RECORD), json.dumps(record).encode(), 0o600)
