"""The processes that one command started, wherever they went since (Linux; elsewhere only its
process group is known).

An orphan is reparented to the nearest subreaper above it. A root that is one keeps everything
started below it (`SUBREAPER`); otherwise orphans are recognised by session, by a variable, and at
last by time."""

import os
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.processes import tree
from rookery.processes.ancestry import environment
from rookery.processes.lineage import LINUX, MARK
from rookery.processes.tree import Process

SUBREAPER: Sequence[str] = (
    sys.executable,
    *("-I", "-S", "-c"),
    "import ctypes,os,sys;ctypes.CDLL(None).prctl(36,1,0,0,0);os.execv(sys.argv[1],sys.argv[1:])",
)
"""Put before a command, makes it a subreaper, which it stays over an exec; it hands that on to
nobody. A program of its own, since a process with threads must run nothing between fork and
exec."""


def now() -> int:
    """Return the time as processes have it, in ticks since boot."""
    if not LINUX:
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def begun(process: Process) -> int:
    ticks = process.start.partition("@")[0]
    return int(ticks) if ticks.isdecimal() else 0


def below_since(
    root: int, earlier: Collection[int], since: int, step: tuple[str, str]
) -> list[Process]:
    """Return all processes below a subreaper that were started since then: not the children that it
    had `earlier`, nor what they started. `step`: a variable and its value in the processes in
    question; one with another value belongs to another step."""
    if not LINUX:
        return []
    rows = tree.table()
    spared = {row.pid for row in rows if row.pid in earlier and begun(row) <= since}
    spared |= {row.pid for pid in list(spared) for row in tree.below(pid, rows)}
    name, value = step
    matches = []
    for row in tree.below(root, rows):
        if row.dead or row.pid in spared:
            continue
        current = (environment(row.pid) or {}).get(name)
        mine = begun(row) >= since if current in (None, "", "0") else current == value
        matches += [row] if mine else []
    return matches


class Command(NamedTuple):
    """A child of ours, and the marks by which its offspring is recognised."""

    pid: int
    alive: bool
    since: int
    mark: tuple[str, str]
    """A variable of its environment, and the value."""


def of_command(command: Command, others: Collection[int]) -> list[Process]:
    """Return the processes that a command started: those below it, in its session, or with its mark
    among the orphans reparented to us. If the environment was cleared, there is no mark: then those
    younger than the command. `others`: children that are known to be somebody else's."""
    if not LINUX:
        return []
    fallen = set(tree.child_pids(os.getpid())) - {command.pid, *others}
    mine = {pid for pid in fallen if _belongs(pid, command)}
    if not mine and not command.alive:
        return []
    rows = tree.table()
    matches = {row.pid: row for row in rows if row.pid in mine}
    for pid in (command.pid, *mine) if command.alive else mine:
        matches |= {row.pid: row for row in tree.below(pid, rows)}
    return [row for row in matches.values() if not row.dead]


def _belongs(pid: int, command: Command) -> bool:
    with suppress(OSError):
        if os.getsid(pid) == command.pid:
            return True
    variables, (name, value) = environment(pid) or {}, command.mark
    if name in variables or MARK in variables:
        return variables.get(name) == value
    start = tree.start_time(pid)
    return start is not None and begun(Process(pid, start)) >= command.since
