"""The agent's process: its pipes, its stderr, its exit, and the end of everything that it started
(rows A1, A3, A7)."""

import asyncio
import os
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple

from rookery.processes import tree as processes
from rookery.processes.lineage import LINUX
from rookery.wire.jsonrpc import Peer
from rookery.wire.pipes import PipeReader

LOG_BYTES = 5 * 1024 * 1024
"""The stderr log is turned over at this size; one older file is kept."""

TAIL_LINES = 40
LONGEST_LINE = 2000

SETTLE = 0.5
"""Seconds that the last bytes of stdout may take after the exit: a grandchild can hold the pipe for
ever."""

DEAF = 2.0
"""Seconds that a process may live on after it closed its stdout."""

POLL = 0.02


class Command(NamedTuple):
    argv: Sequence[str]
    cwd: str
    environment: dict[str, str]


class StderrLog:
    """Always drained, capped, its last lines at hand; an empty one leaves no file (row A3)."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the agent
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._open_line = ""

    def write(self, data: bytes) -> None:
        if self._file.tell() + len(data) > LOG_BYTES:
            self._file.close()
            os.replace(self._path, self._path + ".1")
            self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115
        self._file.write(data[-LOG_BYTES:])
        *lines, self._open_line = (self._open_line + data.decode("utf-8", "replace")).split("\n")
        self._open_line = self._open_line[-LONGEST_LINE:]
        self._tail.extend(line.rstrip()[:LONGEST_LINE] for line in lines)

    def tail(self) -> list[str]:
        return [*self._tail, self._open_line] if self._open_line.strip() else list(self._tail)

    def close(self) -> None:
        empty = self._file.tell() == 0
        self._file.close()
        if empty:
            os.unlink(self._path)


def _taken(pipe: IO[bytes] | None) -> int:
    """The descriptor alone: whoever reads or writes it closes it."""
    assert pipe is not None
    with pipe:
        return os.dup(pipe.fileno())


class AgentProcess:
    """One run of an agent. `on_exit(status, last stderr lines)` is called once, after its last
    message."""

    def __init__(self, peer: Peer, log: str, on_exit: Callable[[int, list[str]], None]) -> None:
        self.peer = peer
        self.pid = 0
        self.start: str | None = None
        self._log = log
        self._on_exit = on_exit
        self._stderr: StderrLog | None = None
        self._reader: PipeReader | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._status: int | None = None
        self._quiet = False
        self._done = asyncio.Event()

    def spawn(self, command: Command) -> None:
        """Start it in a session and group of its own. Raises OSError, with nothing left behind."""
        self._process = subprocess.Popen(
            command.argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.cwd,
            env=command.environment,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.start = processes.start_time(self.pid)
        self._stderr = StderrLog(self._log)
        self._reader = PipeReader(_taken(self._process.stderr), self._stderr.write, lambda: None)
        self.peer.on_closed = self._stdout_ended
        self.peer.attach(_taken(self._process.stdout), _taken(self._process.stdin))
        self._watch()

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
        self._status = self._process.wait()
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        if self._quiet:
            self._finish()
        else:
            asyncio.get_running_loop().call_later(SETTLE, self._finish)

    def _stdout_ended(self) -> None:
        self._quiet = True
        if self._status is not None:
            self._finish()
        else:
            asyncio.get_running_loop().call_later(DEAF, self._end_deaf)

    def _end_deaf(self) -> None:
        if self._status is None:
            processes.end_group(self.pid)

    def _finish(self) -> None:
        if self._done.is_set() or self._status is None:
            return
        self._done.set()
        self.peer.close()
        assert self._reader is not None
        assert self._stderr is not None
        self._reader.take_now()
        self._reader.close()
        tail = self._stderr.tail()
        self._stderr.close()
        self._on_exit(self._status, tail)

    async def end(self, grace: float) -> None:
        """TERM to the whole tree, the grace, then KILL until nothing of it is left."""
        tree = self._tree()
        processes.end_group(self.pid)
        processes.terminate(tree)
        loop = asyncio.get_running_loop()
        until = loop.time() + grace
        while left := processes.still_alive(tree):
            if loop.time() >= until:
                processes.kill(left)
                tree = self._tree()
            await asyncio.sleep(POLL)
        await self._done.wait()

    def _tree(self) -> list[processes.Process]:
        """The process and all below it. Its orphans fall to this worker, which spawns nothing
        else."""
        return processes.descendants(os.getpid())
