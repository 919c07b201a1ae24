"""What a process that works at a store is started with, and given."""

import os
import sys
from collections.abc import Mapping
from typing import Any

FOLDER = "snapshots"
"""Of a session's directory."""

EMPTY = "empty"
"""The snapshot of a directory in which there is nothing: known without a store."""

GIVEN = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH")

NO_GIT = "There is no git on this machine's PATH: no snapshots are taken."


def argv() -> list[str]:
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    flags = ["-I", "-S", "-X", "utf8", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable, *flags, place]


def request(
    directory: str, root: str, environment: Mapping[str, str], most: int, **more: Any
) -> dict[str, Any] | None:
    """For the store of the session in `directory`; None: there is no git."""
    git = _git(environment.get("PATH") or os.defpath)
    if not git:
        return None
    return {
        "store": os.path.join(directory, FOLDER),
        "git": git,
        "root": root,
        "home": os.path.dirname(os.path.dirname(directory)),
        "environment": {name: environment[name] for name in GIVEN if name in environment},
        "most": most,
        **more,
    }


def is_empty(directory: str, root: str) -> bool:
    """Whether there is nothing to keep, and was nothing so far."""
    if os.path.isdir(os.path.join(directory, FOLDER)):
        return False
    try:
        with os.scandir(root) as found:
            return next(found, None) is None
    except OSError:
        return False


def _git(path: str) -> str:
    """Never one of the directory that is looked at, as an empty or relative entry would name."""
    for folder in path.split(os.pathsep):
        found = os.path.join(folder, "git")
        if os.path.isabs(found) and os.access(found, os.X_OK) and os.path.isfile(found):
            return found
    return ""
