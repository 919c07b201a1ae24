"""What leaves the trash by itself: each session after its 14 days, and the oldest before that where
the disk is nearly full. The daemon sees to it; without one, whoever makes a session or runs out of
space does, in a small detached process. What went early is said by the next who can say it."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from rookery.client import waking
from rookery.client.trash import moves, store
from rookery.client.trash.store import Entry, TrashError
from rookery.core.json import dumps, lenient
from rookery.home import paths

LOW = 100 * 1024 * 1024
"""Bytes; on a small disk, a twentieth of it."""
EARLY = "early.json"
LOCK = "emptying"


def is_low(home: str) -> bool:
    """Whether the disk of a home is nearly full."""
    try:
        disk = os.statvfs(home)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < min(LOW, disk.f_blocks * disk.f_frsize // 20)


def is_due(home: str) -> bool:
    """Whether something should be deleted. Two calls to the system, where nothing is."""
    names = store.names(home)
    if any(name.endswith(store.DELETED) for name in names):
        return True
    found = store.entries(home) if names else []
    return bool(found) and (_is_over(found[-1]) or is_low(home))


def _is_over(entry: Entry) -> bool:
    return entry.until <= time.time() * 1000


def tend(home: str) -> list[str]:
    """Delete what is due; what there is to say of it. Raises OSError."""
    store.mend(home)
    moves.clear_leftovers(home)
    moves.erase_all(entry for entry in store.entries(home) if _is_over(entry))
    return make_room(home)


def make_room(home: str) -> list[str]:
    """While the disk is nearly full, delete the oldest; what there is to say. Raises OSError."""
    said: list[str] = []
    while is_low(home) and (found := store.entries(home)):
        head = paths.read_json(os.path.join(found[-1].directory, paths.HEAD))
        title = " ".join(lenient.text(head, "title").split())
        with suppress(TrashError):  # it was restored just now
            moves.erase(found[-1])
            named = f"{found[-1].session} {title}".strip()
            said.append(f"The disk is nearly full, so the oldest in the trash was deleted: {named}")
    return said


# ---------------------------------------------------------------- by itself


def before_session(home: str, told: Callable[[str], object] | None = None) -> None:
    """For who is about to make a session. Nothing is waited for, unless there is no space. `told`
    gets what went early; None: whoever lists sessions next says it."""
    with suppress(OSError):
        if is_low(home):
            said = make_room(home)
            if told is None:
                _keep(home, said)
            else:
                for words in said:
                    told(words)
        if is_due(home):
            start(home)


def start(home: str) -> None:
    """In a process of its own: agents may take their time to forget."""
    waking.start_detached("rookery.client.trash.emptying", home)


def keep_in_order(home: str) -> list[str]:
    """For a process that stays; what went early. Raises OSError."""
    said = tend(home)
    _keep(home, said)
    return said


def _keep(home: str, said: list[str]) -> None:
    if said:
        path = os.path.join(paths.trash(home), EARLY)
        with suppress(OSError):
            paths.write_atomic(path, dumps({"said": [*_read(home), *said]}).encode("ascii"))


def untold(home: str) -> list[str]:
    """What went early and nobody was told of yet; once."""
    said = _read(home)
    if said:
        with suppress(OSError):
            os.unlink(os.path.join(paths.trash(home), EARLY))
    return said


def _read(home: str) -> list[str]:
    return lenient.texts(paths.read_json(os.path.join(paths.trash(home), EARLY)), "said")


if __name__ == "__main__":
    os._exit(waking.run_detached(sys.argv[1], LOCK, lambda: keep_in_order(sys.argv[1])))
