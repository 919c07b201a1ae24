"""How what runs in a terminal is ended: INT to the foreground group, TERM to what the same command
put elsewhere, a moment, KILL to all of it."""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from rookery.processes.tree import (
    Process,
    below,
    forbidden,
    kill,
    still_alive,
    table,
    terminate,
    wait_gone,
)

GRACE = 0.3
LOOK = 0.05
PASSES = 3
"""Each meets what was started during the one before."""
PATIENCE = 1.0
"""After so long the shell itself is ended: something in it cannot be interrupted."""


class Shell(Protocol):
    """What has to be known of a shell to end its command."""

    ended: bool

    @property
    def pid(self) -> int: ...

    @property
    def busy(self) -> bool: ...

    def foreground(self) -> int: ...

    def started(self) -> list[Process]: ...

    def type(self, text: str) -> None: ...

    def pause(self, seconds: float) -> None: ...

    def wait_begun(self, seconds: float) -> None: ...


def end_foreground(shell: Shell) -> list[Process]:
    """Until the prompt is back: each group that comes to the foreground gets INT, then its tree
    KILL. What the command put into the background is ended with it; what an earlier one did
    stays. Returns what still runs since it may not be signalled."""
    shell.wait_begun(PATIENCE)
    foreign = forbidden(shell.started())
    _end_command(shell)
    return still_alive(foreign)


def _end_command(shell: Shell) -> None:
    begun = time.monotonic()
    _end_the_rest(shell)
    asked: dict[int, float] = {}
    trees: dict[int, Process] = {}
    while shell.busy and not shell.ended:
        now = time.monotonic()
        group = shell.foreground()
        if now - begun > PATIENCE:
            end_session(shell.pid)
            return
        if group and (group not in asked or (group == shell.pid and now - asked[group] > GRACE)):
            asked[group] = now
            trees |= {one.pid: one for one in tree_of(group, shell.pid)}
            _interrupt(shell, group)
        elif group and group != shell.pid and now - asked[group] >= GRACE:
            trees |= {one.pid: one for one in tree_of(group, shell.pid)}
            # The shell too: else it goes on with what stands after the killed command.
            _interrupt(shell, shell.pid)
            kill(still_alive(trees.values()))
        shell.pause(LOOK)
    for _ in range(PASSES):
        left = {one.pid: one for one in [*still_alive(trees.values()), *shell.started()]}
        if not left:
            return
        kill(wait_gone(left.values(), max(0.0, begun + GRACE - time.monotonic())))


def _end_the_rest(shell: Shell) -> None:
    """Of what the command started, that which its terminal's keys do not reach."""
    group = shell.foreground()
    near = {one.pid for one in tree_of(group, shell.pid)} if group else set()
    terminate(one for one in shell.started() if one.pid not in near)


def _interrupt(shell: Shell, group: int) -> None:
    try:
        os.killpg(group, signal.SIGINT)
    except ProcessLookupError:
        return
    except PermissionError:
        # Another user's, by sudo: the terminal may do what we may not.
        shell.type("\x03")


def tree_of(group: int, shell: int) -> list[Process]:
    """The group's members and all below them; never the shell, nor its other jobs."""
    if group == shell:
        return []
    rows = table()
    found = {row.pid: row for row in rows if row.group == group}
    for member in list(found):
        found |= {row.pid: row for row in below(member, rows)}
    found.pop(shell, None)
    return list(found.values())


def session_of(leader: int) -> list[Process]:
    """The processes of a shell: below it, or in its session without it; the shell first."""
    rows = table()
    found = {row.pid: row for row in rows if row.pid == leader}
    found |= {row.pid: row for row in below(leader, rows)}
    for row in rows:
        if row.pid not in found and _session(row.pid) == leader:
            found[row.pid] = row
            found |= {child.pid: child for child in below(row.pid, rows)}
    return list(found.values())


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def end_session(leader: int) -> None:
    end_all(session_of(leader))


def end_all(processes: Iterable[Process]) -> None:
    """HUP, as from a terminal that goes away; a moment; KILL."""
    members = still_alive(processes)
    for member in members:
        for number in (signal.SIGHUP, signal.SIGCONT):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, number)
    kill(wait_gone(members, GRACE))
