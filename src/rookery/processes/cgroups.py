"""A control group for a worker and everything it starts, if this user may make one: it is inherited
whoever the parent becomes, so it identifies an agent's orphans. The warden imports this: import
little."""

import os
from contextlib import suppress

from rookery.processes.lineage import LINUX

PREFIX = "rookery-"
LIMITED = "rookery-pids-"
TRIES = 5
MOUNTS = "/sys/fs/cgroup"
UNIFIED = (MOUNTS, f"{MOUNTS}/unified")


def enter(tag: str, name: str) -> str:
    """Move this process, with what it will start, into a new group below its own, and return that;
    "" if that is not allowed. The kernel takes some 10 ms for it: callers that cannot wait do it in
    a thread."""
    for parent in _parents() * 2:  # a sweep may have met the first one while it was empty
        path = os.path.join(parent, _name(tag, name))
        try:
            os.mkdir(path, 0o755)
            _move_to(path)
        except OSError:
            _take_away(path)
            continue
        return path
    return ""


def leave(path: str) -> None:
    """Move this process back to the group it came from; delete the other one if nobody else is in
    it."""
    if not path:
        return
    try:
        _move_to(os.path.dirname(path))
    except OSError:
        return
    _take_away(path)


def _move_to(path: str) -> None:
    with open(os.path.join(path, "cgroup.procs"), "wb", buffering=0) as file:
        file.write(b"%d" % os.getpid())


def sweep(tag: str) -> None:
    """Delete the groups of this home that are empty."""
    for parent in _parents():
        for name in os.listdir(parent):
            if name.startswith(_name(tag, "")):
                _take_away(os.path.join(parent, name))
    for parent in _counting():
        for name in os.listdir(parent):
            if name.startswith(f"{LIMITED}{tag}."):
                drop(os.path.join(parent, name, name.replace(LIMITED, PREFIX, 1)))


def limited(tag: str, name: str, most: int) -> str:
    """Make a new group in which at most `most` processes can run, for `join`; return "" if that is
    not allowed here. It lies in a group of its own that has the limit, and has the name by which
    `holds` knows it."""
    for parent in _counting():
        above = os.path.join(parent, f"{LIMITED}{tag}.{name}")
        path = os.path.join(above, _name(tag, name))
        try:
            _make_limited(path, most)
        except OSError:
            drop(path)
            continue
        return path
    return ""


def join(path: str, most: int) -> None:
    """Move this process into a limited group, between fork and exec. A sweep may have met the group
    while it was empty. Raises OSError."""
    for _ in range(TRIES):
        try:
            return _move_to(path)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                _make_limited(path, most)
    return _move_to(path)


def follow(pid: int) -> None:
    """Move this process to the group in which another one is counted. Raises OSError."""
    for name, path in _groups(str(pid)):
        if LIMITED in path:
            roots = [os.path.join(MOUNTS, name)] if name else UNIFIED
            there = [os.path.join(root, path.lstrip("/")) for root in roots]
            for place in filter(os.path.isdir, there):
                _move_to(place)


def _make_limited(path: str, most: int) -> None:
    os.makedirs(path, 0o755, exist_ok=True)
    limit = os.path.join(os.path.dirname(path), "pids.max")
    with open(limit, "r+b", buffering=0) as file:  # there, where it counts
        file.write(b"%d" % most)
    os.stat(os.path.join(path, "cgroup.procs"))


def drop(path: str) -> None:
    """Delete a limited group that is empty."""
    _take_away(path)
    _take_away(os.path.dirname(path))


def _counting() -> list[str]:
    """Return where a group that counts processes may be made: beside this process's own, since one
    with processes in it can have none below that counts (the unified hierarchy's rule)."""
    paths: list[str] = []
    for name, path in _groups("self"):
        below = path.lstrip("/")
        if not name:
            roots = [root for root in UNIFIED if os.path.exists(f"{root}/cgroup.controllers")]
            paths += [os.path.dirname(os.path.join(root, below)) for root in roots if below]
        elif "pids" in name.split(","):
            paths.append(os.path.join(MOUNTS, "pids", below))
    return [path for path in paths if os.access(path, os.W_OK)]


def holds(pid: int, tag: str) -> bool:
    """Tell whether the process is in a group that was made for an agent of that home."""
    return any(f"/{_name(tag, '')}" in path for _, path in _groups(str(pid)))


def mark_of(pid: int, tag: str) -> str:
    """Return the mark of the worker whose group the process is in; "" if it is in none of that
    home's."""
    for _, path in _groups(str(pid)):
        for name in path.split("/"):
            if name.startswith(_name(tag, "")):
                return name.removeprefix(_name(tag, ""))
    return ""


def _take_away(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return  # it is not there, or not empty


def _name(tag: str, name: str) -> str:
    return f"{PREFIX}{tag}.{name}"


def _parents() -> list[str]:
    """Return the groups of this process, in the unified hierarchy first, then in those that only
    name."""
    paths: list[str] = []
    for name, path in _groups("self"):
        below = path.lstrip("/")
        if not name:
            roots = [root for root in UNIFIED if os.path.exists(f"{root}/cgroup.controllers")]
            paths[:0] = [os.path.join(root, below) for root in roots]
        elif name.startswith("name="):
            paths.append(os.path.join(MOUNTS, name.removeprefix("name="), below))
    return [path for path in paths if os.access(path, os.W_OK)]


def _groups(pid: str) -> list[tuple[str, str]]:
    """Return hierarchy and path of each group that the process is in."""
    if not LINUX:
        return []
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    rows = [line.split(":", 2) for line in lines]
    return [(row[1], row[2]) for row in rows if len(row) == 3]
