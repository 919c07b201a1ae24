"""Starting a process that works at a store: its command, its request, and whether it can run at
all."""

import os
import sys
from collections.abc import Mapping
from typing import Any

FOLDER = "snapshots"
"""The name of a folder in a session's directory."""

SESSIONS = "sessions"
"""The name of a folder in Rookery's home."""

EMPTY = "empty"
"""The snapshot of a directory in which there is nothing: known without a store."""

NOW = "now"
"""In place of a snapshot: the files as they are."""

GIVEN = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH")

_SYSTEM = frozenset(
    {
        *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc"),
        *("/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var"),  # noqa: S108 - a name
        *("/Applications", "/Library", "/System", "/Users", "/private", "/Volumes"),
    }
)

UNFIT = "unfit"
NO_GIT = "git is not on PATH, so no snapshots are taken."


def argv() -> list[str]:
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    flags = ["-I", "-S", "-X", "utf8", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable, *flags, place]


def request(
    directory: str, root: str, environment: Mapping[str, str], most: int, **more: Any
) -> dict[str, Any] | None:
    """Return the request for the store of the session in `directory`; None if there is no git."""
    git = find_git(environment.get("PATH") or os.defpath)
    if not git:
        return None
    return {
        "store": os.path.join(directory, FOLDER),
        "git": git,
        "root": root,
        "home": home_of(directory),
        "environment": {name: environment[name] for name in GIVEN if name in environment},
        "most": most,
        **more,
    }


def home_of(directory: str) -> str:
    """Return Rookery's home, given a session's directory."""
    return os.path.dirname(os.path.dirname(directory))


def is_empty(directory: str, root: str) -> bool:
    """Tell whether there is nothing to snapshot, and never was."""
    if os.path.isdir(os.path.join(directory, FOLDER)):
        return False
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def unfit(root: str, home: str, environment: Mapping[str, str]) -> str:
    """Return why no snapshot may be taken of a directory, whatever it contains; "" if one may."""
    root, home = os.path.realpath(root), os.path.realpath(home)
    user = os.path.realpath(environment.get("HOME") or os.path.expanduser("~"))
    if root in {"/", *_SYSTEM} or holds(root, user):
        return f"{root} is too broad for snapshots. Use a project's directory."
    if root == home or holds(os.path.join(home, SESSIONS), root):
        return f"{root} contains Rookery's own data. Use a project's directory."
    return ""


def holds(folder: str, path: str) -> bool:
    """Tell whether a path is the folder itself, or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def find_git(path: str) -> str:
    """Return the path of git; never one in the directory being examined, which an empty or relative
    entry of PATH would name."""
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, "git")
        if os.path.isabs(candidate) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return ""
