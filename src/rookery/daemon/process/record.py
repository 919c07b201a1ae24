"""Which daemon serves a home: a lock that the kernel frees, and a record for those who look."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.build import build
from rookery.client.daemon import local as daemon
from rookery.core.json import Json
from rookery.daemon.options import Options, Refusal
from rookery.home import paths
from rookery.log.errors import Busy
from rookery.log.lock import Lock
from rookery.processes import tree


@contextmanager
def only_one(home: str) -> Iterator[None]:
    """Held while a daemon serves the home. Raises Refusal."""
    try:
        paths.ensure_home(home)
    except paths.PathError as error:
        raise Refusal("unusable_home", str(error)) from error
    paths.make_private(os.path.join(home, "run"))
    try:
        lock = Lock.acquire(os.path.join(home, daemon.LOCK), 1.0)
    except Busy:
        found = daemon.record(home) or {}
        where = f" at {found['address']}" if "address" in found else ""
        raise Refusal(
            "already_running",
            f"A daemon already serves {home}{where}. To stop it: rookery serve --stop",
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(os.path.join(home, daemon.RECORD))
        lock.release()


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
    paths.write_atomic(os.path.join(home, daemon.RECORD), json.dumps(record).encode(), 0o600)
    return record
