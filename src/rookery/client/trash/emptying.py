"""Automatic emptying of the trash: each session after its 14 days, and the oldest before that if
the disk is nearly full. The daemon does it; without one, whoever creates a session or runs out of
space does, in a small detached process. Early deletions are reported by the next process that can.
"""

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
    """Tell whether a home's disk is nearly full."""
    try:
        disk = os.statvfs(home)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < min(LOW, disk.f_blocks * disk.f_frsize // 20)


def is_due(home: str) -> bool:
    """Tell whether something should be deleted. Costs two system calls if not."""
    names = store.names(home)
    if any(name.endswith(store.DELETED) for name in names):
        return True
    entries = store.entries(home) if names else []
    return bool(entries) and (_is_over(entries[-1]) or is_low(home))


def _is_over(entry: Entry) -> bool:
    return entry.until <= time.time() * 1000


def tend(home: str) -> list[str]:
    """Delete what is due; return notices to show. Raises OSError."""
    store.mend(home)
    moves.clear_leftovers(home)
    moves.erase_all(entry for entry in store.entries(home) if _is_over(entry))
    return make_room(home)


def make_room(home: str) -> list[str]:
    """Delete the oldest sessions while the disk is nearly full; return notices to show. Raises
    OSError."""
    notices: list[str] = []
    while is_low(home) and (entries := store.entries(home)):
        head = paths.read_json(os.path.join(entries[-1].directory, paths.HEAD))
        title = " ".join(lenient.text(head, "title").split())
        with suppress(TrashError):  # it was restored just now
            moves.erase(entries[-1])
            named = f"{entries[-1].session} {title}".strip()
            notices.append(
                f"The disk is nearly full, so the oldest in the trash was deleted: {named}"
            )
    return notices


# ---------------------------------------------------------------- by itself


def before_session(home: str, report: Callable[[str], object] | None = None) -> None:
    """Tidy the trash before a session is created, without waiting for it unless there is no space.
    `report` gets notices of early deletions; None: they are left for whoever lists sessions next.
    """
    with suppress(OSError):
        if is_low(home):
            notices = make_room(home)
            if report is None:
                _keep(home, notices)
            else:
                for notice in notices:
                    report(notice)
        if is_due(home):
            start(home)


def start(home: str) -> None:
    """Empty the trash in a process of its own: agents may take their time to delete sessions."""
    waking.start_detached("rookery.client.trash.emptying", home)


def keep_in_order(home: str) -> list[str]:
    """Empty the trash from a long-running process; return notices of early deletions. Raises
    OSError."""
    notices = tend(home)
    _keep(home, notices)
    return notices


def _keep(home: str, notices: list[str]) -> None:
    if notices:
        path = os.path.join(paths.trash(home), EARLY)
        with suppress(OSError):
            paths.write_atomic(path, dumps({"said": [*_read(home), *notices]}).encode("ascii"))


def untold(home: str) -> list[str]:
    """Return the notices of early deletions that have not been shown yet; each once."""
    notices = _read(home)
    if notices:
        with suppress(OSError):
            os.unlink(os.path.join(paths.trash(home), EARLY))
    return notices


def _read(home: str) -> list[str]:
    return lenient.texts(paths.read_json(os.path.join(paths.trash(home), EARLY)), "said")


if __name__ == "__main__":
    os._exit(waking.run_detached(sys.argv[1], LOCK, lambda: keep_in_order(sys.argv[1])))
