"""Our own agent, forked from a process that has loaded the SDK (see `hatchery.py`)."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Mapping
from typing import IO, Literal

from tests.rigs.hatchery import AGENT, STATUS, Hatchery


def _pipe(file: int, mode: Literal["rb", "wb"]) -> IO[bytes]:
    return open(file, mode, buffering=0)


class Agent:
    """One of our own that was forked, as asyncio shows a process."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.stdin: asyncio.StreamWriter
        self.stdout: asyncio.StreamReader
        self._status = status
        self._code: int | None = None

    async def connect(self, stdin: int, stdout: int, limit: int) -> None:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, _pipe(stdin, "wb")
        )
        self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        self.stdout = asyncio.StreamReader(limit)
        reading = asyncio.StreamReaderProtocol(self.stdout)
        await loop.connect_read_pipe(lambda: reading, _pipe(stdout, "rb"))

    @property
    def returncode(self) -> int | None:
        if self._code is None and select.select([self._status], [], [], 0)[0]:
            self._code = os.waitstatus_to_exitcode(int(os.read(self._status, 16) or b"9"))
            os.close(self._status)
        return self._code

    async def wait(self) -> int:
        if self._code is None:
            await asyncio.to_thread(select.select, [self._status], [], [])
        code = self.returncode
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_loaded: tuple[Hatchery, dict[str, str]] | None = None
"""With the environment that it was loaded in."""


async def start(
    argv: list[str], environment: Mapping[str, str], stderr: int, limit: int
) -> Agent | None:
    """A process of our own agent; None: it is to be started afresh, since another environment is
    loaded."""
    global _loaded  # noqa: PLW0603 - one for the run
    given = dict(environment)
    if sys.platform != "linux" or (_loaded is not None and _loaded[1] != given):
        return None
    if _loaded is None:
        _loaded = Hatchery(AGENT, given), given
    (stdin, writing), (reading, stdout), (status, theirs) = os.pipe(), os.pipe(), os.pipe()
    files = {0: stdin, 1: stdout, 2: stderr, STATUS: theirs}
    try:
        pid = _loaded[0].spawn(argv, "/", given, files)
    finally:
        for file in (stdin, stdout, theirs):
            os.close(file)
    made = Agent(pid, status)
    await made.connect(writing, reading, limit)
    return made


def end_agents() -> None:
    """Before their home is looked through for what was left."""
    global _loaded  # noqa: PLW0603
    if _loaded is not None:
        _loaded[0].end()
    _loaded = None
