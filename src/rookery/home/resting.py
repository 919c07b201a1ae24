"""A cache of the heads of sessions at rest, in one file: listing thousands of sleeping sessions
then need not read three files of each and try its socket. The file may be deleted at any time.

A session rests while it is asleep, its last worker recorded that it ended, and nothing in its
directory changed. An entry is valid only for the directory it was made from (its inode and its
times): every build replaces the files there, and none changes one in place. A time that is too
recent could stand for two changes, so such an entry is not made. And a socket of the session ends
its rest, whatever the times are."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple
from zlib import crc32

from rookery.core.clock_slip import is_snoozed
from rookery.core.header import EMPTY, Shown
from rookery.core.json import Json
from rookery.core.view.fleet import head_of
from rookery.home import paths

VERSION = 1
"""The version of the file."""

FILE = "heads"

FRESH = 2_000_000_000
"""Nanoseconds in which a directory may change again and keep its times."""

FOREVER = 2**53
"""Milliseconds of the epoch: until then an archived session is hidden."""


class Entry(NamedTuple):
    stamp: str
    """Of the session's directory."""
    socket: str
    """The name of its worker's socket."""
    until: int
    """Until when lists leave it out, in milliseconds of the epoch; 0: they show it."""
    body: str
    """Its head, as JSON: of a session that is not shown, it need not be parsed."""

    def head(self) -> Json | None:
        try:
            parsed = json.loads(self.body)
        except ValueError:
            return None
        return parsed if isinstance(parsed, dict) else None


def stamp_of(path: str) -> str:
    """Return a stamp of a file's or directory's state; "" if it cannot be read, or if it may still
    change and keep its times."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    if changed > time.time_ns() - FRESH:  # also where the clock went back
        return ""
    return f"{status.st_ino}.{status.st_mtime_ns}.{status.st_ctime_ns}"


def rests(head: Json) -> bool:
    """Return whether nothing can happen in a session before its directory changes."""
    worker = head["worker"]
    if head["awake"] or head.get("damaged") or head["state"] != "idle":
        return False
    return worker is None or bool(worker.get("ended"))


def entry_of(home: str, head: Json, stamp: str) -> Entry:
    socket = os.path.basename(paths.socket_path(paths.session_dir(home, head["id"])))
    snoozed = head["snoozed"] if is_snoozed(Shown(head), time.time() * 1000) else 0
    until = FOREVER if head["archived"] else min(FOREVER, snoozed)
    return Entry(stamp, socket, 0 if head["asks"] else until, json.dumps(head))


def load(home: str) -> dict[str, Entry]:
    """Return the entries by the session's id."""
    try:
        with open(_path(home), "rb") as file:
            heading, _, rest = file.read().partition(b"\n")
        if heading != _heading(home, rest):  # of another build, or a power cut took part of it
            return {}
        sockets = _sockets(home)
    except (OSError, paths.PathError):
        return {}
    entries = {}
    for line in rest.decode("ascii").splitlines():
        name, stamp, socket, until, body = line.split(" ", 4)
        if socket not in sockets:
            entries[name] = Entry(stamp, socket, int(until), body)
    return entries


def _sockets(home: str) -> set[str]:
    try:
        return {*os.listdir(paths.socket_directory(home))}
    except FileNotFoundError:  # no worker was ever started here
        return set()


def save(home: str, entries: Mapping[str, Entry]) -> None:
    """Write the entries. If the file cannot be written (a read-only home, a full disk), heads are
    read again next time."""
    lines = (f"{name} {' '.join(map(str, entry))}\n" for name, entry in entries.items())
    rest = "".join(lines).encode("ascii")
    with suppress(OSError, paths.PathError):
        paths.make_private(os.path.dirname(_path(home)))
        paths.write_atomic(_path(home), _heading(home, rest) + b"\n" + rest)


def _path(home: str) -> str:
    return os.path.join(home, "cache", FILE)


def _heading(home: str, rest: bytes) -> bytes:
    """Return the first line. It names the home's location: in a home that was moved, sockets have
    other names."""
    place = crc32(os.fsencode(os.path.realpath(home)))
    return f"{VERSION} {_shape()} {place} {crc32(rest)}".encode("ascii")


@cache
def _shape() -> int:
    """Return a checksum of the fields of heads: another build's may differ."""
    return crc32(" ".join(head_of(EMPTY, 0, 0)).encode())
