"""The origin of a process: its parents, its command line, its environment.

Only the parents of one process are walked. A step is repeated when the child was reparented while
its parent was read, so that no other process takes a dead parent's place."""

import os
from collections.abc import Iterator
from contextlib import suppress

from rookery.processes import tree
from rookery.processes.lineage import LINUX
from rookery.processes.tree import Process

DEEPEST = 1000
TRIES = 100
"""Attempts at one step; each means that a parent ended in that moment."""


class Gone(Exception):
    """The process ended before it could be inspected."""


class TooDeep(Exception):
    """There are more parents than anybody needs, except to hide behind them."""


def line_of(pid: int) -> Iterator[Process]:
    """Yield the process itself, then its parents, the nearest first. Raises Gone, TooDeep."""
    process = tree.process(pid)
    if process is None or process.dead:
        raise Gone
    if not LINUX:
        yield from _in_table(process)
        return
    for _ in range(DEEPEST):
        yield process
        parent = _parent(process)
        if parent is None:
            return
        process = parent
    raise TooDeep


def _parent(child: Process) -> Process | None:
    """Return the parent; None if none can be seen (another namespace, hidepid)."""
    for _ in range(TRIES):
        if child.parent <= 0:
            return None
        parent = tree.process(child.parent)
        now = tree.process(child.pid)
        if now is None or now.start != child.start:
            raise Gone
        if now.parent == child.parent:
            return parent
        child = now
    raise Gone


def _in_table(process: Process) -> Iterator[Process]:
    rows = {row.pid: row for row in tree.table()}
    for _ in range(DEEPEST):
        yield process
        parent = rows.get(process.parent)
        if parent is None or parent.pid == process.pid:
            return
        process = parent
    raise TooDeep


def command_line(pid: int) -> list[str]:
    """Return the command line; empty if the process is gone or it cannot be read."""
    if not LINUX:
        return " ".join(tree.ps("-ww", "-p", str(pid), "-o", "command=")).split()
    data = _read(f"/proc/{pid}/cmdline") or b""
    return [os.fsdecode(word) for word in data.split(b"\0")[:-1]]


def environment(pid: int) -> dict[str, str] | None:
    """Return the environment that the process was started with; None if it cannot be read."""
    if not LINUX:
        return _shown_environment(pid)
    data = _read(f"/proc/{pid}/environ")
    if data is None:
        return None
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def home_of(pid: int) -> str | None:
    """Return the Rookery home that a process was started for; None if that is not known: its
    environment cannot be read, or has a relative path."""
    known = environment(pid)
    if known is None:
        return None
    home = known.get("ROOKERY_HOME") or os.path.join(known.get("HOME") or "~", ".rookery")
    home = os.path.expanduser(home)
    return home if os.path.isabs(home) else None


def _shown_environment(pid: int) -> dict[str, str] | None:
    """Return the environment that `ps e` prints, for this user's processes only."""
    tokens = " ".join(tree.ps("eww", "-p", str(pid), "-o", "command=")).split()
    pairs = (word.partition("=") for word in tokens if "=" in word)
    return {name: value for name, _, value in pairs} or None


def _read(path: str) -> bytes | None:
    with suppress(OSError), open(path, "rb") as file:
        return file.read()
    return None
