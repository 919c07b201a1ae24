"""What becomes of files that a command overwrites or deletes: is one there, is it inside, and would
a snapshot bring it back?"""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery.core.dangers.places import KEPT, LOST, NEW, is_below
from rookery.core.policy.reach import Lay

MOST = 50
"""Files of a call that are looked at; of more nothing is known to come back."""


class Snapshots(NamedTuple):
    """How those of a session are taken."""

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
    """By path. `cwd`: the directory that snapshots are of."""
    root = os.path.realpath(cwd)
    found = dict.fromkeys(paths, LOST)
    asked: dict[str, str] = {}
    for path in paths[:MOST]:
        real = os.path.realpath(path)
        size = _size(real)
        if not size or (_is_free(real, lay) and not is_below(real, root)):
            found[path] = NEW
        elif is_below(real, root) and size <= snapshots.most:
            asked[path] = real
    if asked:
        from rookery.snapshots import coverage  # where a command overwrites something

        _, store, home, environment = snapshots
        kept = coverage.kept([*{*asked.values()}], root, store, home, environment)
        found |= {path: KEPT for path, real in asked.items() if real in kept}
    return found


def _is_free(path: str, lay: Lay) -> bool:
    free = any(is_below(path, place) for place in lay.free)
    return free and not any(is_below(path, place) for place in lay.guarded)


def _size(path: str) -> int:
    """Of a regular file; 0: there is nothing to lose."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0
