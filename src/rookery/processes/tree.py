"""Facts about processes, and ending them, by pid *and* start: a pid alone may be another's by now.

Linux provides /proc and pidfds; macOS only `ps`, where a pid may in theory be reused between the
look and the signal."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import NamedTuple

from rookery.processes.lineage import LINUX, MARK

GRACE = 2.0  # seconds between TERM and KILL
SETTLE = 1.0  # seconds that a killed process has to go
PASSES = 8  # of looking for what is to be ended: each meets what was forked during the one before


class Process(NamedTuple):
    pid: int
    start: str  # opaque: equal for the same process only, over a reboot too
    parent: int = 0
    group: int = 0
    dead: bool = False  # and waiting for its parent to notice
    session: int = 0  # this and the next are told by Linux alone
    terminal: bool = False


# ---------------------------------------------------------------- facts


def start_time(pid: int) -> str | None:
    """Return when a process started, as a word to be compared; None if it is gone or dead."""
    row = process(pid)
    return row.start if row and not row.dead else None


def process(pid: int) -> Process | None:
    """Return one row of the table, also for a process that is dead and waits for its parent; None
    if it is gone."""
    return _read_stat(pid) if LINUX else next(_read_ps("-p", str(pid)), None)


def alive(pid: int, start: str) -> bool:
    return start_time(pid) == start


def still_alive(processes: Iterable[Process]) -> list[Process]:
    return [process for process in processes if alive(process.pid, process.start)]


def table() -> list[Process]:
    """Return every living process, in one pass. (The dead have no children any more.)"""
    return [row for row in (_scan() if LINUX else _read_ps("-A")) if not row.dead]


def descendants(root: int, but: Collection[int] = ()) -> list[Process]:
    """Return all living processes below `root`, parents before children; without those in `but` and
    their descendants.

    Where the kernel lists each process's children, the cost depends on the size of this tree, not
    on the number of processes on the machine. A process whose parent dies during the walk can be
    missed: repeat until nothing is found."""
    rows = _walk(root) if LINUX and _lists_children() else below(root, table())
    out = {*but}
    for row in rows if out else ():
        if row.parent in out:
            out.add(row.pid)
    return [row for row in rows if row.pid not in out]


def below(root: int, rows: Iterable[Process]) -> list[Process]:
    """Return the descendants of `root` among `rows`, parents before children; not `root`."""
    children: dict[int, list[Process]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row)
    matches: list[Process] = []
    parents = [root]
    for parent in parents:
        here = children.pop(parent, [])
        matches += here
        parents += [child.pid for child in here]
    return matches


def ancestors(pid: int, rows: Iterable[Process]) -> set[int]:
    parent_of = {row.pid: row.parent for row in rows}
    seen: set[int] = set()
    while (pid := parent_of.get(pid, 0)) and pid not in seen:
        seen.add(pid)
    return seen


def private_memory(pid: int) -> int | None:
    """Return the bytes free if the process ended (Linux); None if that cannot be told."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            lines = [line.split() for line in file if line.startswith(b"Private_")]
    except OSError:
        return None
    return sum(int(fields[1]) for fields in lines) * 1024


def children(parent: int) -> list[Process]:
    """Return the direct children of a process (Linux), including dead ones not yet reaped."""
    if not _lists_children():
        return [row for row in _scan() if row.parent == parent]
    return [row for row in map(_read_stat, child_pids(parent)) if row]


# ---------------------------------------------------------------- ending


def terminate(processes: Iterable[Process]) -> list[Process]:
    """Send TERM; return those that we may not signal. A process that is already gone is fine."""
    return [process for process in processes if not _send(process, signal.SIGTERM)]


def kill(processes: Iterable[Process]) -> list[Process]:
    """Send KILL; return those that we may not signal. A process that is already gone is fine."""
    return [process for process in processes if not _send(process, signal.SIGKILL)]


def forbidden(processes: Iterable[Process]) -> list[Process]:
    """Return those that we may not signal: they run as another user."""
    return [process for process in processes if not _send(process, 0)]


def end_group(group: int, number: int = signal.SIGTERM) -> None:
    """Signal a process group that we made; never our own, nor the kernel's notion of everybody."""
    if group > 1 and group != os.getpgrp():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def wait_gone(processes: Iterable[Process], seconds: float) -> list[Process]:
    """Block until all have ended or the time is up; return those that have not."""
    deadline = time.monotonic() + seconds
    left = still_alive(processes)
    while left and (remaining := deadline - time.monotonic()) > 0:
        _wait_one(left[0], remaining)
        left = still_alive(left)
    return left


def end_below(root: int) -> None:
    """KILL everything below `root`, blocking. A walk can miss processes that lost their parent
    meanwhile, so it repeats until it has found nothing twice; but not for ever, since some may not
    be signalled."""
    nothing = 0
    for _ in range(PASSES):
        left = descendants(root)
        nothing = 0 if left else nothing + 1
        if nothing == 2:
            return
        kill(left)
        wait_gone(left, SETTLE)


def end_tree(roots: Iterable[Process], grace: float = GRACE) -> list[Process]:
    """Send TERM, wait `grace`, then KILL the roots and everything below them, blocking; return
    those left.

    The loop of a worker does the same in its own time with terminate, still_alive and kill."""
    roots = list(roots)
    rows = table()
    tree = _distinct(roots + [row for root in roots for row in below(root.pid, rows)])
    terminate(tree)
    left = wait_gone(tree, grace)
    rows = table()
    left = _distinct(left + [row for one in left for row in below(one.pid, rows)])
    kill(left)
    return wait_gone(left, SETTLE)


def marks() -> Iterator[tuple[int, str]]:
    """Yield the mark in the environment of each process of this user's that has one."""
    return _scan_marks() if LINUX else _read_ps_marks()


class Adopted:
    """Reaps the orphans reparented to a worker as a subreaper, and never what it spawned itself.

    The two look alike. But a process that was spawned is reaped at once by its spawner: a child
    that is found dead in two calls, which are to be some seconds apart, is an orphan."""

    def __init__(self) -> None:
        self._seen: set[Process] = set()

    @property
    def waits(self) -> bool:
        """Whether a dead child was found that the next call may reap."""
        return bool(self._seen)

    def reap(self) -> int:
        """Return how many were reaped; to be called now and then. Reads its own children only."""
        dead = {row for row in children(os.getpid()) if row.dead} if LINUX else set()
        known = dead & self._seen
        for row in known:
            with suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)
        self._seen = dead - known
        return len(known)


def _distinct(processes: Iterable[Process]) -> list[Process]:
    return list({(row.pid, row.start): row for row in processes}.values())


def _send(process: Process, number: int) -> bool:
    """Send a signal; return False if the process exists but is not ours to signal."""
    try:
        with ExitStack() as stack:
            if not LINUX:
                if alive(process.pid, process.start):
                    os.kill(process.pid, number)
                return True
            # The descriptor holds on to the process: what is then found to be it, stays it.
            handle = os.pidfd_open(process.pid)
            stack.callback(os.close, handle)
            if alive(process.pid, process.start):
                signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _wait_one(process: Process, seconds: float) -> None:
    if not LINUX:
        time.sleep(min(seconds, 0.02))  # kqueue would tell, for a process that is not yet gone
        return
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if alive(process.pid, process.start):
            poll.poll(seconds * 1000)
    finally:
        os.close(handle)


# ---------------------------------------------------------------- Linux: /proc


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _scan() -> Iterator[Process]:
    return (row for row in map(_read_stat, _pids()) if row)


def _read_stat(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may hold anything, parentheses too: count from the last one.
    fields = text[text.rindex(b")") + 2 :].split()
    # A first thread that has ended is shown as a zombie while others live on.
    dead = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
    parent, group, session, terminal = map(int, fields[1:5])
    start = f"{int(fields[19])}@{_boot()}"
    return Process(pid, start, parent, group, dead, session, terminal != 0)


def _lists_children() -> bool:
    """Tell whether the kernel has `children` files (CONFIG_PROC_CHILDREN: nearly all have)."""
    return os.path.exists("/proc/thread-self/children")


def child_pids(parent: int) -> list[int]:
    """Return the children that a process has now (Linux): each thread lists those it started or
    inherited."""
    pids: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{parent}/task"):
            with (
                suppress(FileNotFoundError, ProcessLookupError),
                open(f"/proc/{parent}/task/{thread}/children", "rb") as file,
            ):
                pids += map(int, file.read().split())
    return pids


def _walk(root: int) -> list[Process]:
    collected: list[Process] = []
    parents = [root]
    seen = {root}
    for parent in parents:
        for pid in child_pids(parent):
            row = None if pid in seen else _read_stat(pid)
            seen.add(pid)
            if row is not None and not row.dead:
                collected.append(row)
                parents.append(pid)
    return collected


_boot_id = ""


def _boot() -> str:
    """Return an id of this boot: ticks since boot can be compared within one boot only."""
    global _boot_id  # noqa: PLW0603 - the same for as long as this process lives
    if not _boot_id:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            _boot_id = file.read(8)
    return _boot_id


def _scan_marks() -> Iterator[tuple[int, str]]:
    prefix = f"{MARK}=".encode()
    user = os.geteuid()
    for pid in _pids():
        try:
            if os.stat(f"/proc/{pid}").st_uid != user:
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                environ = file.read()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        for entry in environ.split(b"\0") if prefix in environ else ():
            if entry.startswith(prefix):
                yield pid, os.fsdecode(entry[len(prefix) :])


# ---------------------------------------------------------------- macOS: ps


def ps(*arguments: str) -> list[str]:
    # -o once per column: after `=` BSD's ps takes the rest of the argument for the heading.
    done = subprocess.run(
        ["ps", *arguments],
        env={"PATH": "/bin:/usr/bin", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,  # 1 means: no such process
    )
    return done.stdout.decode(errors="replace").splitlines()


def _read_ps(*which: str) -> Iterator[Process]:
    columns = ("pid", "ppid", "pgid", "stat", "lstart")
    for line in ps(*which, *(word for name in columns for word in ("-o", f"{name}="))):
        pid, parent, group, state, *start = line.split()
        yield Process(int(pid), " ".join(start), int(parent), int(group), state[0] == "Z")


def _read_ps_marks() -> Iterator[tuple[int, str]]:
    """Yield the marks in the environment that `ps e` prints behind the command, for this user's
    processes only."""
    for line in ps("xeww", "-o", "pid=", "-o", "command="):
        pid, *tokens = line.split()
        for word in tokens:
            if word.startswith(f"{MARK}="):
                yield int(pid), word.partition("=")[2]
