"""A process that we started: the event loop reports its exit, without a signal handler or a poll.
An agent's process has a fence around it: Landlock's domain, and the record that says whose it is
(docs/security.md)."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from rookery.processes import landlock, roots, tree
from rookery.processes.lineage import LINUX, MARK

LANDLOCK = "landlock"
LINEAGE = "lineage"
"""How an agent is kept from answering for you: by the kernel too, or by its descent alone."""


class Fence:
    def __init__(self, home: str, *, confined: bool) -> None:
        self._home = home
        self._ruleset = -1
        self.wrappers: set[int] = set()
        """Processes that are only a sandbox around an agent's: to end one kills what is inside
        without a word, and each ends with what it is around."""
        self.confine(confined)

    def confine(self, wanted: bool) -> None:
        """Set whether processes started from now on get a domain, if the kernel has them."""
        self.confined = wanted and landlock.available()

    @property
    def guard(self) -> str:
        return LANDLOCK if self.confined else LINEAGE

    def entry(self) -> Callable[[], None] | None:
        """Return what a child does between fork and exec; None for nothing. Raises OSError: then
        nothing is started, since a process that is meant to be confined must not run outside."""
        if not self.confined:
            return None
        if self._ruleset < 0:
            self._ruleset = landlock.ruleset()
        made = self._ruleset
        return lambda: landlock.enter(made)

    def inside(self, processes: Iterable[tree.Process]) -> list[tree.Process]:
        """Leave out processes that are only a sandbox: bwrap, and the first one inside."""
        around = self.wrappers
        return [each for each in processes if each.pid not in around and each.parent not in around]

    def entered(self, pid: int, start: str | None) -> None:
        roots.record(self._home, pid, start, os.environ.get(MARK, ""))

    def left(self, pid: int, start: str | None) -> None:
        roots.forget(self._home, pid, start)

    def close(self) -> None:
        if self._ruleset >= 0:
            os.close(self._ruleset)
            self._ruleset = -1


class Child:
    """A child process in a session and group of its own. `on_exit(status)` is called once; signals
    are negative.

    `fence`: the fence around it, if it is an agent's."""

    def __init__(self, on_exit: Callable[[int], None], fence: Fence | None = None) -> None:
        self._fence = fence
        self.pid = 0
        self.start: str | None = None
        self.status: int | None = None
        self._on_exit = on_exit
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    def spawn(  # noqa: PLR0913 - as subprocess has it
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environment: dict[str, str],
        umask: int,
        stdin: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        pass_fds: Sequence[int] = (),
        entry: Callable[[], None] | None = None,
        wrapped: bool = False,
        fenced: bool = True,
    ) -> tuple[int, int, int]:
        """Start it; return the descriptors of its stdin, stdout, stderr (-1 where there is none).
        `entry`: called between fork and exec. `wrapped`: it is a sandbox around the command.
        `fenced`: it gets a domain of Landlock's.

        Raises OSError or ValueError, with nothing left behind."""
        domain = self._fence.entry() if self._fence and fenced else None
        try:
            self._process = subprocess.Popen(
                argv,
                bufsize=0,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=cwd,
                env=environment,
                umask=umask,
                start_new_session=True,
                preexec_fn=_both(entry, domain),  # noqa: PLW1509 - see entry
                pass_fds=pass_fds,
            )
        except subprocess.SubprocessError as error:
            raise OSError(f"it could not be confined: {error}") from error
        self.pid = self._process.pid
        self.start = tree.start_time(self.pid)
        if self._fence is not None:
            self._fence.entered(self.pid, self.start)
            if wrapped:
                self._fence.wrappers.add(self.pid)
        self._watch()
        process = self._process
        return _taken(process.stdin), _taken(process.stdout), _taken(process.stderr)

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        if LINUX:
            self._pidfd = os.pidfd_open(self.pid)
            loop.add_reader(self._pidfd, self._exited)
            return
        assert self._process is not None
        waiting = loop.run_in_executor(None, self._process.wait)
        waiting.add_done_callback(lambda _: self._exited())

    def _exited(self) -> None:
        assert self._process is not None
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        self.status = self._process.wait()
        if self._fence is not None:
            self._fence.left(self.pid, self.start)
            self._fence.wrappers.discard(self.pid)
        self._on_exit(self.status)


def _both(*entries: Callable[[], None] | None) -> Callable[[], None] | None:
    due = [entry for entry in entries if entry is not None]
    if not due:
        return None

    def enter() -> None:
        for entry in due:
            entry()

    return enter


def _taken(pipe: IO[bytes] | None) -> int:
    """Return the bare descriptor of a pipe: its reader or writer has to close it."""
    if pipe is None:
        return -1
    with pipe:
        return os.dup(pipe.fileno())
