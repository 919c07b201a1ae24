"""Finding and ending what dead workers left running: if a worker and its warden are killed at once,
processes that had detached themselves are left. They are recognised by their mark, their control
group, the record of a forked agent (`roots`), or descent from one of those. Processes that the
user's own shell started are spared."""

import os
from collections.abc import Collection, Iterable
from typing import NamedTuple

from rookery.processes import ancestry, cgroups, roots, tree
from rookery.processes.lineage import LINUX, home_tag
from rookery.processes.tree import PASSES, SETTLE, Process

WARM = "rookery.agent.warm"
MAX_COMMAND_LENGTH = 60
"""Characters of a command line that are shown."""


class Stray(NamedTuple):
    session: str
    process: Process
    command: str

    def __str__(self) -> str:
        return f"{self.command} (pid {self.process.pid})"


class Swept(NamedTuple):
    ended: list[Stray]
    refused: list[Stray]
    """Those that this user may not signal: they run on."""


def sweep(home: str, sessions: Collection[str], keep_nonce: str | None = None) -> Swept:
    """KILL what earlier workers of these sessions left; `keep_nonce`: whose mark is spared. The
    caller must know that no worker of theirs lives. Never kills this process or a parent of it."""
    ended: list[Stray] = []
    refused: dict[int, Stray] = {}
    for _ in range(PASSES):
        strays = find(home, sessions, keep_nonce)
        strays = [each for each in strays if each.process.pid not in refused]
        if not strays:
            break
        denied = {process.pid for process in tree.kill(each.process for each in strays)}
        refused |= {each.process.pid: each for each in strays if each.process.pid in denied}
        ended += [each for each in strays if each.process.pid not in denied]
        tree.wait_gone([each.process for each in ended], SETTLE)
    return Swept(list({each.process.pid: each for each in ended}.values()), [*refused.values()])


def find(home: str, sessions: Collection[str], keep_nonce: str | None = None) -> list[Stray]:
    """Return all strays, each with the session that it is from, parents before children."""
    rows = {row.pid: row for row in tree.table()}
    marks = {
        pid: mark.rpartition(".")[0]
        for pid, mark in _marks(home, rows)
        if mark.rpartition(".")[0] in sessions and mark.rpartition(".")[2] != keep_nonce
    }
    own = {os.getpid(), *tree.ancestors(os.getpid(), rows.values())}
    strays: dict[int, Stray] = {}
    for pid, session in marks.items():
        if pid in own or _is_a_persons(pid, rows, marks):
            continue
        for row in (rows[pid], *tree.below(pid, rows.values())):
            if row.pid not in own:
                strays.setdefault(row.pid, Stray(session, row, command_of(row.pid)))
    return list(strays.values())


def of_mark(home: str, mark: str) -> list[Process]:
    """Return all processes that carry exactly this mark, or were recorded with it, and those below
    them; not the descendants of this process."""
    if not mark:
        return []
    rows = tree.table()
    marked = {pid for pid, carried in tree.marks() if carried == mark}
    marked |= {pid for pid, carried in _forks(home) if carried == mark}
    # On macOS, which passes orphans on to nobody of ours, also the groups that they lead.
    led = set() if LINUX else {row.pid for row in rows if row.group in marked}
    matches = {row.pid: row for row in rows if row.pid in marked | led}
    for pid in list(matches):
        matches |= {row.pid: row for row in tree.below(pid, rows)}
    spared = {os.getpid(), *tree.ancestors(os.getpid(), rows)}
    spared |= {row.pid for row in tree.below(os.getpid(), rows)}
    return [row for pid, row in matches.items() if pid not in spared]


def end(home: str, mark: str) -> None:
    """KILL all processes with this mark, blocking; skip those that may not be signalled."""
    for _ in range(PASSES):
        left = of_mark(home, mark)
        if not left or len(tree.kill(left)) == len(left):
            return
        tree.wait_gone(left, SETTLE)


def command_of(pid: int) -> str:
    """Return the command line of a process for display, cut to length."""
    line = " ".join(ancestry.command_line(pid)) or "a process"
    return line if len(line) <= MAX_COMMAND_LENGTH else line[: MAX_COMMAND_LENGTH - 1] + "…"


def summary(strays: Iterable[object], most: int = 5) -> str:
    """Name a few strays and count the others."""
    names = list(map(str, strays))
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _marks(home: str, rows: Collection[int]) -> list[tuple[int, str]]:
    pairs = [(pid, mark) for pid, mark in tree.marks() if pid in rows]
    pairs += [(pid, mark) for pid, mark in _forks(home) if pid in rows]
    tag = home_tag(home)
    if LINUX and tag:
        pairs += [(pid, mark) for pid in rows if (mark := cgroups.mark_of(pid, tag))]
    return pairs


def _forks(home: str) -> list[tuple[int, str]]:
    """Return agents that were forked from a warm process: the environment that the system reports
    is that process's. The record is a file like any other, so their command line has to match it.
    """
    return [
        (pid, mark)
        for pid, _, mark in roots.all_of(home)
        if mark and WARM in ancestry.command_line(pid)
    ]


def _is_a_persons(pid: int, rows: dict[int, Process], marked: Collection[int]) -> bool:
    """Tell whether a process belongs to the user: it is in somebody else's session, or below a
    shell with a terminal that is not the agent's. The mark alone proves nothing: the user may have
    exported it."""
    if not LINUX:
        return False
    leader = rows[pid].session
    if leader != pid and leader in rows and leader not in marked:
        return True
    parent = rows[pid].parent
    while parent in rows and parent > 1:
        if parent not in marked and rows[parent].terminal:
            return True
        parent = rows[parent].parent
    return False
