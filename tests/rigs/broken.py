"""Sessions that cannot be read, in every way that disks, other users and killed processes know."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from rookery.client.create import create_session, write_head
from rookery.core.json.events import Draft, Json
from rookery.home import paths
from rookery.log.store import Writer

STRANGER = 54321
"""A user who is not there."""

NEEDLE = "needle"
ASK: Json = {"sessionUpdate": "_ask", "id": "a", "state": "asked", "kind": "permission"}
ASK |= {"toolCall": {"toolCallId": "t", "title": "rm -rf build"}}
ASK |= {"options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}


def asking(home: Path, title: str) -> Path:
    """A session that waits for an answer: its directory."""
    session = create_session(str(home), agent="demo", argv=[], cwd="/", title=title)
    directory = paths.session_dir(str(home), session)
    prompt = [{"type": "text", "text": f"{NEEDLE} {title}"}]
    with Writer.open(directory) as writer:
        writer.append([Draft({"sessionUpdate": "_prompt", "prompt": prompt, "turn": 1})])
        event = writer.append([Draft(ASK)])[-1]
        write_head(directory, writer.header, event.seq, event.at)
    return Path(directory)


def _overwritten(place: int) -> Callable[[Path], None]:
    def overwrite(directory: Path) -> None:
        with (directory / paths.LOG).open("r+b") as file:
            left = file.seek(0, os.SEEK_END) - place
            file.seek(place)
            file.write(b"\xa5" * left)

    return overwrite


def _cut(size: int) -> Callable[[Path], None]:
    return lambda directory: os.truncate(directory / paths.LOG, size)


def _replaced(name: str, put: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(directory: Path) -> None:
        (directory / name).unlink(missing_ok=True)
        put(directory / name)

    return replace


def _without(*names: str) -> Callable[[Path], None]:
    def remove(directory: Path) -> None:
        for name in names or os.listdir(directory):
            (directory / name).unlink()

    return remove


def _queried(*statements: str, head: bool = False) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        with sqlite3.connect(directory / paths.LOG) as log:
            for each in statements:
                log.execute(each)
        log.close()
        if not head:
            (directory / paths.HEAD).unlink()

    return change


def _foreign(*names: str, mode: int) -> Callable[[Path], None]:
    def give(directory: Path) -> None:
        for name in names or [".", *os.listdir(directory)]:
            path = directory / name
            path.chmod(mode | (0o111 if mode and path.is_dir() else 0))
            if os.geteuid() == 0:
                os.chown(path, STRANGER, STRANGER)

    return give


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _elsewhere(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.symlink_to("/nonexistent")


GONE = "DELETE FROM turn"
"""Headers that were kept: without them, the events alone say what the session is."""

WAYS: dict[str, Callable[[Path], None]] = {
    "damaged header": _overwritten(0),
    "damaged pages": _overwritten(4096),
    "log cut in a page": _cut(4196),
    "log cut to a page": _cut(4096),
    "empty log": _cut(0),
    "log is a directory": _replaced(paths.LOG, Path.mkdir),
    "log is a pipe": _replaced(paths.LOG, os.mkfifo),
    "log fails when it is read": _replaced(paths.LOG, lambda p: p.symlink_to("/proc/self/mem")),
    "log is a link to itself": _replaced(paths.LOG, _loop),
    "log of another program": _replaced(paths.LOG, lambda p: sqlite3.connect(p).close()),
    "no log": _without(paths.LOG),
    "only a head": _without(paths.LOG, paths.LOCK),
    "neither log nor head": _without(paths.LOG, paths.HEAD),
    "nothing": _without(),
    "no events": _queried("DELETE FROM event", GONE, head=True),
    "no events, no head": _queried("DELETE FROM event", GONE),
    "no first event": _queried("DELETE FROM event WHERE seq = 1", GONE),
    "no table": _queried("DROP TABLE event"),
    "no JSON": _queried("UPDATE event SET body = '{'", GONE),
    "another JSON": _queried("UPDATE event SET body = '[7]', kind = x'ff', at = 'x'", GONE),
    "newer format": _queried("PRAGMA user_version = 999", head=True),
    "newer format, no head": _queried("PRAGMA user_version = 999"),
    "head is a directory": _replaced(paths.HEAD, Path.mkdir),
    "head is a pipe": _replaced(paths.HEAD, os.mkfifo),
    "head is not JSON": _replaced(paths.HEAD, lambda p: p.write_bytes(b"\xff\0{")),
    "worker's record is a pipe": _replaced(paths.WORKER, os.mkfifo),
    "lock is a pipe": _replaced(paths.LOCK, os.mkfifo),
    "lock is a link to itself": _replaced(paths.LOCK, _loop),
    "moved away": _elsewhere,
    "another user's": _foreign(mode=0o000),
    "another user's, to look at": _foreign(mode=0o644),
    "another user's log": _foreign(paths.LOG, mode=0o000),
}


def broken(home: Path) -> dict[str, str]:
    """The ids of sessions that are broken in each way; each has an open ask."""
    found = {}
    for way, spoil in WAYS.items():
        directory = asking(home, f"bad: {way}")
        spoil(directory)
        found[way] = directory.name
    return found
