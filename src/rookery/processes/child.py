"""A process that we started: its exit is told by the loop, without a signal handler or a poll."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import IO

from rookery.processes import tree
from rookery.processes.fence import Fence
from rookery.processes.lineage import LINUX


class Child:
    """In a session and group of its own. `on_exit(status)` is called once; signals are negative.

    `fence`: what is around it, where it is an agent's.
    """

    def __init__(self, on_exit: Callable[[int], None], fence: Fence | None = None) -> None:
        self._fence = fence
        self.pid = 0
        self.start: str | None = None
        self.status: int | None = None
        self._on_exit = on_exit
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environment: dict[str, str],
        umask: int,
        stdin: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> tuple[int, int, int]:
        """Start it; the descriptors of its stdin, stdout, stderr (-1 where there is none).

        Raises OSError or ValueError, with nothing left behind.
        """
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
                preexec_fn=self._fence.entry() if self._fence else None,  # noqa: PLW1509 - see fence
            )
        except subprocess.SubprocessError as error:
            raise OSError(f"it could not be confined (Landlock): {error}") from error
        self.pid = self._process.pid
        self.start = tree.start_time(self.pid)
        if self._fence is not None:
            self._fence.entered(self.pid, self.start)
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
        self._on_exit(self.status)


def _taken(pipe: IO[bytes] | None) -> int:
    """The descriptor alone: whoever reads or writes it closes it."""
    if pipe is None:
        return -1
    with pipe:
        return os.dup(pipe.fileno())
