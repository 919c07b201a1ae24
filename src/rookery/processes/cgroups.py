"""A control group for what an agent starts, where this user may make one: it is inherited, whoever
the parent becomes, and so tells the orphans of an agent when all of ours that held them are dead.

Best effort: where none may be made (most logins below systemd's own scopes, most containers),
nothing is done. An agent that may write there can also leave its group.
"""

import os
from contextlib import suppress

from rookery.processes.lineage import LINUX

PREFIX = "rookery-"
MOUNTS = "/sys/fs/cgroup"
UNIFIED = (MOUNTS, f"{MOUNTS}/unified")


def make(tag: str) -> str:
    """A new group below this process's own, for the home that has the tag; "": not allowed."""
    if not LINUX:
        return ""
    for parent in _parents():
        path = os.path.join(parent, f"{PREFIX}{tag}.{os.getpid()}.{os.urandom(3).hex()}")
        with suppress(OSError):
            os.mkdir(path, 0o755)
            if os.access(os.path.join(path, "cgroup.procs"), os.W_OK):
                return path
            os.rmdir(path)
    return ""


def remove(path: str) -> bool:
    """False where somebody is still in it."""
    with suppress(FileNotFoundError):
        try:
            os.rmdir(path)
        except OSError:
            return False
    return True


def sweep(tag: str) -> None:
    """Take away the empty groups that dead workers of this home left here."""
    for parent in _parents() if LINUX and tag else ():
        with suppress(OSError):
            for name in os.listdir(parent):
                owner = name.removeprefix(f"{PREFIX}{tag}.").partition(".")[0]
                if owner.isdecimal() and not os.path.exists(f"/proc/{owner}"):
                    remove(os.path.join(parent, name))


def holds(pid: int, tag: str) -> bool:
    """Whether the process is in a group that was made for an agent of that home."""
    return any(f"/{PREFIX}{tag}." in path for _, path in _groups(str(pid)))


def _parents() -> list[str]:
    """Where this process is, in the unified hierarchy first, then in those that only name."""
    found: list[str] = []
    for name, path in _groups("self"):
        below = path.lstrip("/")
        if not name:
            roots = [root for root in UNIFIED if os.path.exists(f"{root}/cgroup.controllers")]
            found[:0] = [os.path.join(root, below) for root in roots]
        elif name.startswith("name="):
            found.append(os.path.join(MOUNTS, name.removeprefix("name="), below))
    return [path for path in found if os.access(path, os.W_OK)]


def _groups(pid: str) -> list[tuple[str, str]]:
    """Hierarchy and path, of each that the process is in."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    rows = [line.split(":", 2) for line in lines]
    return [(row[1], row[2]) for row in rows if len(row) == 3]
