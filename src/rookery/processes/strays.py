"""What dead workers left running, found and ended: a worker and its warden that are killed at once
leave what had detached itself. It is known by its mark, its control group, the record of a forked
agent (`roots`), or descent from one of those. What the user's own shell started is spared."""

import os
from collections.abc import Collection, Iterable
from typing import NamedTuple

from rookery.processes import ancestry, cgroups, roots, tree
from rookery.processes.lineage import LINUX, home_tag
from rookery.processes.tree import PASSES, SETTLE, Process

WARM = "rookery.agent.warm"
LONGEST = 60
"""Characters of a command line that are told."""


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
    caller knows that no worker of theirs lives. Never this process or a parent of it."""
    ended: list[Stray] = []
    refused: dict[int, Stray] = {}
    for _ in range(PASSES):
        found = find(home, sessions, keep_nonce)
        found = [each for each in found if each.process.pid not in refused]
        if not found:
            break
        denied = {process.pid for process in tree.kill(each.process for each in found)}
        refused |= {each.process.pid: each for each in found if each.process.pid in denied}
        ended += [each for each in found if each.process.pid not in denied]
        tree.wait_gone([each.process for each in ended], SETTLE)
    return Swept(list({each.process.pid: each for each in ended}.values()), [*refused.values()])


def find(home: str, sessions: Collection[str], keep_nonce: str | None = None) -> list[Stray]:
    """Each with the session that it is from, parents before children."""
    rows = {row.pid: row for row in tree.table()}
    marks = {
        pid: mark.rpartition(".")[0]
        for pid, mark in _marks(home, rows)
        if mark.rpartition(".")[0] in sessions and mark.rpartition(".")[2] != keep_nonce
    }
    own = {os.getpid(), *tree.ancestors(os.getpid(), rows.values())}
    found: dict[int, Stray] = {}
    for pid, session in marks.items():
        if pid in own or _is_a_persons(pid, rows, marks):
            continue
        for row in (rows[pid], *tree.below(pid, rows.values())):
            if row.pid not in own:
                found.setdefault(row.pid, Stray(session, row, command_of(row.pid)))
    return list(found.values())


def of_mark(home: str, mark: str) -> list[Process]:
    """All that carries exactly this mark, or was recorded with it, and what is below them; not
    what descends from this process."""
    if not mark:
        return []
    rows = tree.table()
    marked = {pid for pid, said in tree.marks() if said == mark}
    marked |= {pid for pid, said in _forks(home) if said == mark}
    # On macOS, which passes orphans on to nobody of ours, also the groups that they lead.
    led = set() if LINUX else {row.pid for row in rows if row.group in marked}
    found = {row.pid: row for row in rows if row.pid in marked | led}
    for pid in list(found):
        found |= {row.pid: row for row in tree.below(pid, rows)}
    spared = {os.getpid(), *tree.ancestors(os.getpid(), rows)}
    spared |= {row.pid for row in tree.below(os.getpid(), rows)}
    return [row for pid, row in found.items() if pid not in spared]


def end(home: str, mark: str) -> None:
    """KILL all of that, blocking; what may not be signalled is left alone."""
    for _ in range(PASSES):
        left = of_mark(home, mark)
        if not left or len(tree.kill(left)) == len(left):
            return
        tree.wait_gone(left, SETTLE)


def command_of(pid: int) -> str:
    """For people: what it runs, cut."""
    words = " ".join(ancestry.command_line(pid)) or "a process"
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def told(strays: Iterable[object], most: int = 5) -> str:
    """A few of them by name, the others counted."""
    names = list(map(str, strays))
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _marks(home: str, rows: Collection[int]) -> list[tuple[int, str]]:
    found = [(pid, mark) for pid, mark in tree.marks() if pid in rows]
    found += [(pid, mark) for pid, mark in _forks(home) if pid in rows]
    tag = home_tag(home)
    if LINUX and tag:
        found += [(pid, mark) for pid in rows if (mark := cgroups.mark_of(pid, tag))]
    return found


def _forks(home: str) -> list[tuple[int, str]]:
    """Agents that were forked from a warm process: their environment, as the system tells it, is
    that one's. The record is a file like any other, so their command line has to fit it."""
    return [
        (pid, mark)
        for pid, _, mark in roots.all_of(home)
        if mark and WARM in ancestry.command_line(pid)
    ]


def _is_a_persons(pid: int, rows: dict[int, Process], marked: Collection[int]) -> bool:
    """Whether it stands in somebody else's session, or below a shell with a terminal that is not
    the agent's: an exported variable makes nobody an agent's."""
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
