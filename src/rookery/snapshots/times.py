"""Which files changed after a given moment, by the clock of their file system."""

import os
import time
from collections.abc import Iterable

SKEWED = 1.0
"""A file from further in the future has another machine's clock, which says nothing."""


def later(top: str, paths: Iterable[str], moment: float) -> list[str]:
    """Return the paths that were created, changed or removed after the moment. A path that is gone
    changed with its folder."""
    changed, most = list[str](), time.time() + SKEWED
    for path in paths:
        if moment < _changed(top, path) <= most:
            changed.append(path)
    return changed


def _changed(top: str, path: str) -> float:
    try:
        return os.lstat(os.path.join(top, path)).st_ctime
    except OSError:
        pass
    while path:
        path = os.path.dirname(path)
        try:
            return os.lstat(os.path.join(top, path)).st_mtime
        except OSError:
            continue
    return 0.0
