"""Finds the processes of a terminal and ends them: HUP, and a moment later KILL."""

import os
import signal
import termios
from collections.abc import Iterable
from contextlib import suppress

from rookery.processes.tree import Process, below, kill, still_alive, table, wait_gone

GRACE = 0.3


def tree_of(group: int, shell: int) -> list[Process]:
    """Return the group's members and their descendants; never the shell, nor its other jobs."""
    if group == shell:
        return []
    rows = table()
    by_pid = {row.pid: row for row in rows if row.group == group}
    for member in list(by_pid):
        by_pid |= {row.pid: row for row in below(member, rows)}
    by_pid.pop(shell, None)
    return list(by_pid.values())


def session_of(leader: int) -> list[Process]:
    """Return a shell's descendants and the rest of its session; the shell first."""
    rows = table()
    by_pid = {row.pid: row for row in rows if row.pid == leader}
    by_pid |= {row.pid: row for row in below(leader, rows)}
    for row in rows:
        if row.pid not in by_pid and _session(row.pid) == leader:
            by_pid[row.pid] = row
            by_pid |= {child.pid: child for child in below(row.pid, rows)}
    return list(by_pid.values())


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def end_session(leader: int) -> None:
    end_all(session_of(leader))


def end_all(processes: Iterable[Process]) -> None:
    """Send HUP, as from a terminal that goes away, and a moment later KILL."""
    members = still_alive(processes)
    for member in members:
        for number in (signal.SIGHUP, signal.SIGCONT):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, number)
    kill(wait_gone(members, GRACE))


def forget_input(master: int, terminal: str) -> None:
    """Discard input that was typed but not read: on its way to the terminal, and there."""
    with suppress(OSError, termios.error):
        termios.tcflush(master, termios.TCOFLUSH)
        slave = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
        try:
            termios.tcflush(slave, termios.TCIFLUSH)
        finally:
            os.close(slave)
