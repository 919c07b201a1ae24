"""The agent's process: its pipes, its stderr, its exit, and ending all that it started."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from rookery.home.log_rotation import BEFORE, LOG_BYTES
from rookery.processes import tree as processes
from rookery.processes.child import Child, Fence
from rookery.wire.jsonrpc import Peer
from rookery.wire.pipes import PipeReader

TAIL_LINES = 40
LONGEST_LINE = 2000

SETTLE = 0.5
"""Seconds that the last bytes of stdout may take after the exit: a grandchild can hold the pipe for
ever."""

DEAF = 2.0
"""Seconds that a process may live on after it closed its stdout."""

POLL = 0.02

LAST = 5.0
"""Seconds before its end whose stderr may say why it ended."""

LEFT = 255
"""The status of an agent that may not be ended, since it runs as another user."""


type OnExit = Callable[[int, list[str]], None]


class StderrLog:
    """The agent's stderr: always drained, capped, the last lines kept in memory. An empty log
    leaves no file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - lives as long as the agent
        self._tail: deque[tuple[float, str]] = deque(maxlen=TAIL_LINES)
        self._open_line, self._written = "", 0.0

    def write(self, data: bytes) -> None:
        # A full disk, or a session that was deleted, must not keep the exit from being told.
        with suppress(OSError):
            self._keep(data)
        *lines, self._open_line = (self._open_line + data.decode("utf-8", "replace")).split("\n")
        self._open_line, self._written = self._open_line[-LONGEST_LINE:], time.monotonic()
        self._tail.extend((self._written, line.rstrip()[:LONGEST_LINE]) for line in lines)

    def _keep(self, data: bytes) -> None:
        if self._file.tell() + len(data) > LOG_BYTES:
            os.replace(self._path, self._path + BEFORE)
            full, self._file = self._file, open(self._path, "ab", buffering=0)  # noqa: SIM115
            full.close()
        self._file.write(data[-LOG_BYTES:])

    def tail(self, since: float) -> list[str]:
        """Return the last lines, of those written since a moment of the monotonic clock."""
        lines = [*self._tail, *([(self._written, self._open_line)] if self._open_line else [])]
        recent = [line for at, line in lines if at >= since]
        return recent if any(line.strip() for line in recent) else []

    def close(self) -> None:
        empty = self._file.tell() == 0
        self._file.close()
        if empty:
            with suppress(OSError):
                os.unlink(self._path)


class AgentProcess:
    """One run of an agent. `on_exit(status, last stderr lines)` is called once, after its last
    message."""

    def __init__(
        self,
        peer: Peer,
        log: str,
        on_exit: OnExit,
        fence: Fence,
        strays: Callable[[], list[processes.Process]],
        spared: Collection[int] = (),
    ) -> None:
        """`strays`: lists processes that the agent started and that are no descendants of this
        worker. `spared`: pids of descendants that are the worker's own."""
        self.peer = peer
        self.child = Child(self._exited, fence)
        self._fence = fence
        self.on_left: Callable[[list[processes.Process]], None] = lambda _: None
        """Called before `on_exit` with what may not be signalled, where there is any."""
        self._log = log
        self._on_exit = on_exit
        self._stderr: StderrLog | None = None
        self._reader: PipeReader | None = None
        self._quiet = False
        self._gone_at = 0.0
        self._strays, self._spared = strays, spared
        self._refused: dict[int, processes.Process] = {}
        self._done = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        environment: dict[str, str],
        umask: int,
        **sandbox: Any,
    ) -> None:
        """Start the process. `sandbox`: passed on to `Child.spawn`. Raises OSError or ValueError,
        with nothing left behind."""
        self._stderr = StderrLog(self._log)
        with ExitStack() as undo:
            undo.callback(self._stderr.close)
            stdin, stdout, stderr = self.child.spawn(
                argv, cwd=cwd, environment=environment, umask=umask, **sandbox
            )
            undo.pop_all()
        self._reader = PipeReader(stderr, self._stderr.write, lambda: None)
        self.peer.on_closed = self._stdout_ended
        self.peer.attach(stdout, stdin)

    def _exited(self, _status: int) -> None:
        self._gone_at = time.monotonic()
        if self._quiet:
            self._finish()
        else:
            asyncio.get_running_loop().call_later(SETTLE, self._finish)

    def _stdout_ended(self) -> None:
        self._quiet = True
        if self.child.status is not None:
            self._finish()
        else:
            asyncio.get_running_loop().call_later(DEAF, self._end_deaf)

    def _end_deaf(self) -> None:
        if self.child.status is None:
            processes.end_group(self.child.pid)

    def _finish(self) -> None:
        if self._done.is_set() or self.child.status is None:
            return
        self._done.set()
        self.peer.close()
        assert self._reader is not None
        assert self._stderr is not None
        self._reader.take_now()
        self._reader.close()
        self._stderr.close()
        # An agent that died leaves its children behind, and a wrapper's child is the agent proper,
        # which would go on, beside the one that comes next.
        self.end(processes.GRACE)

    def end(self, grace: float) -> asyncio.Task[None]:
        """Send TERM to the whole tree, wait for the grace period, then KILL until nothing of it is
        left.

        The exit is reported only then: anything spawned in response to it would count as a part of
        the tree."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(grace), name="end the agent")
        return self._ending

    async def _end(self, grace: float) -> None:
        tree = self._tree()
        if self.child.pid not in self._fence.wrappers:
            processes.end_group(self.child.pid)
        processes.terminate(self._fence.inside(tree))
        loop = asyncio.get_running_loop()
        until = loop.time() + grace
        while left := self._left(tree):
            if loop.time() >= until:
                self._kill(left)
                tree = self._tree()
            await asyncio.sleep(POLL)
        await self._end_strays(grace)
        if left := processes.still_alive(self._refused.values()):
            self.on_left(left)
        with suppress(TimeoutError):
            async with asyncio.timeout(DEAF if self.child.pid in self._refused else None):
                await self._done.wait()
        assert self._stderr is not None
        status = LEFT if self.child.status is None else self.child.status
        self._on_exit(status, self._stderr.tail(self._gone_at - LAST))

    async def _end_strays(self, grace: float) -> None:
        """End the strays that the agent itself has not ended within the grace period."""
        for _ in range(processes.PASSES):
            left = self._left(self._strays())
            if not left:
                return
            await asyncio.to_thread(processes.wait_gone, left, grace)
            self._kill(self._left(left))
            grace = SETTLE

    def _left(self, tree: list[processes.Process]) -> list[processes.Process]:
        return [each for each in processes.still_alive(tree) if each.pid not in self._refused]

    def _kill(self, left: list[processes.Process]) -> None:
        """Kill what is left; try another user's processes only once: more would end nothing."""
        self._refused |= {each.pid: each for each in processes.kill(left)}

    def _tree(self) -> list[processes.Process]:
        """List the process and all its descendants. Its orphans are reparented to this worker."""
        return processes.descendants(os.getpid(), self._spared)
