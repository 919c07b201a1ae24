"""Finding out what happens to files that a command overwrites or deletes: does the file exist, is
it inside the session's directory, and would a snapshot restore it?"""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery.core.dangers.places import KEPT, LOST, NEW, is_below
from rookery.core.policy.reach import Lay

MAX_FILES = 50
"""How many files of a call are looked at; those beyond count as not restorable."""


class Snapshots(NamedTuple):
    """How a session's snapshots are taken."""

    most: int = 0
    """Bytes of a file that they keep; 0: none are taken."""
    store: str = ""
    """Where they are; "": nowhere yet."""
    home: str = ""
    """Rookery's."""
    environment: Mapping[str, str] = {}


def fates(
    paths: Sequence[str],
    cwd: str,
    lay: Lay,
    snapshots: Snapshots = Snapshots(),  # noqa: B008
) -> dict[str, str]:
    """Return the fate of each path. `cwd`: the directory that snapshots cover."""
    root = os.path.realpath(cwd)
    outcomes = dict.fromkeys(paths, LOST)
    asked: dict[str, str] = {}
    for path in paths[:MAX_FILES]:
        real = os.path.realpath(path)
        size = _size(real)
        if not size or (_is_free(real, lay) and not is_below(real, root)):
            outcomes[path] = NEW
        elif is_below(real, root) and size <= snapshots.most:
            asked[path] = real
    if asked:
        from rookery.snapshots import coverage  # where a command overwrites something

        _, store, home, environment = snapshots
        kept = coverage.kept([*{*asked.values()}], root, store, home, environment)
        outcomes |= {path: KEPT for path, real in asked.items() if real in kept}
    return outcomes


def _is_free(path: str, lay: Lay) -> bool:
    free = any(is_below(path, place) for place in lay.free)
    return free and not any(is_below(path, place) for place in lay.guarded)


def _size(path: str) -> int:
    """Return the size of a regular file; 0 if there is nothing to lose."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0
