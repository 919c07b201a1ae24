"""The record of which processes are the agents of a home: a file for each, named by pid and start,
with the mark of its worker in it. A check reads no list, and the file of a dead process means
nothing."""

import os
from contextlib import suppress

from rookery.processes import tree

RUN = "run"
ROOTS = "roots"


def directory(home: str) -> str:
    return os.path.join(home, RUN, ROOTS)


def record(home: str, pid: int, start: str | None, mark: str = "") -> None:
    """Record a process, as far as possible: an agent starts on a full disk, too, and is recognised
    by its parents there. No home is created for it."""
    if start is None or not os.path.isdir(home):
        return
    place = directory(home)
    with suppress(OSError):
        os.makedirs(place, 0o700, exist_ok=True)
        path = os.path.join(place, _name(pid, start))
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, mark.encode())
        finally:
            os.close(file)


def forget(home: str, pid: int, start: str | None) -> None:
    if start is not None:
        with suppress(OSError):
            os.unlink(os.path.join(directory(home), _name(pid, start)))


def is_one(home: str, pid: int, start: str) -> bool:
    return os.path.lexists(os.path.join(directory(home), _name(pid, start)))


def all_of(home: str) -> list[tuple[int, str, str]]:
    """Return pid, start and mark of each recorded process that lives."""
    return [each for each in _recorded(home) if tree.alive(*each[:2])]


def marks(home: str) -> set[str]:
    """Return the marks of all recorded processes, including dead ones."""
    return {mark for _, _, mark in _recorded(home) if mark}


def _recorded(home: str) -> list[tuple[int, str, str]]:
    place, entries = directory(home), []
    with suppress(OSError):
        for name in os.listdir(place):
            pid, _, start = name.partition("-")
            with suppress(OSError), open(os.path.join(place, name), "rb") as file:
                if pid.isdecimal():
                    mark = os.fsdecode(file.read(200))
                    entries.append((int(pid), start.replace("_", " "), mark))
    return entries


def clean(home: str) -> None:
    """Remove the files of dead processes."""
    for pid, start, _ in _recorded(home):
        if not tree.alive(pid, start):
            forget(home, pid, start)


def _name(pid: int, start: str) -> str:
    return f"{pid}-{start.replace(' ', '_')}"
