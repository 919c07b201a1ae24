"""Which processes are the agents of a home: a file for each, named by its pid and its start.

What is asked is whether a name is there, so a check reads no list. A file of a process that is gone
means nothing, since a start is never anybody else's; it is taken away when somebody comes by.
"""

import os
from contextlib import suppress

from rookery.processes import tree

RUN = "run"
ROOTS = "roots"


def directory(home: str) -> str:
    return os.path.join(home, RUN, ROOTS)


def record(home: str, pid: int, start: str | None) -> None:
    """Best effort: an agent starts on a full disk, too, and is known by its parents there. No home
    is made for it."""
    if start is None or not os.path.isdir(home):
        return
    place = directory(home)
    with suppress(OSError):
        os.makedirs(place, 0o700, exist_ok=True)
        path = os.path.join(place, _name(pid, start))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def forget(home: str, pid: int, start: str | None) -> None:
    if start is not None:
        with suppress(OSError):
            os.unlink(os.path.join(directory(home), _name(pid, start)))


def is_one(home: str, pid: int, start: str) -> bool:
    return os.path.lexists(os.path.join(directory(home), _name(pid, start)))


def clean(home: str) -> None:
    """Take away what dead ones left."""
    place = directory(home)
    with suppress(OSError):
        for name in os.listdir(place):
            pid, _, start = name.partition("-")
            if not (pid.isdecimal() and tree.alive(int(pid), start.replace("_", " "))):
                with suppress(OSError):
                    os.unlink(os.path.join(place, name))


def _name(pid: int, start: str) -> str:
    return f"{pid}-{start.replace(' ', '_')}"
