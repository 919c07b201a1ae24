"""What speaks ACP on its stdio, forked from a process that has loaded it (see `hatchery.py`): the
bridge, the player and our own agent; and its warm process."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Mapping
from typing import IO, Literal

from rookery.client import warm_agent
from tests.rigs.hatchery import (
    AGENT,
    BEGUN,
    DOOR,
    OWN,
    STATUS,
    Adopted,
    Hatchery,
    fits_proc,
    hatchery,
    place,
    workers,
)
from tests.rigs.player import player


def _pipe(file: int, mode: Literal["rb", "wb"]) -> IO[bytes]:
    return open(file, mode, buffering=0)


class Process:
    """One that was forked, as asyncio shows it."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.stdin: asyncio.StreamWriter
        self.stdout: asyncio.StreamReader
        self._reading: asyncio.ReadTransport
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
        self._reading, _ = await loop.connect_read_pipe(lambda: reading, _pipe(stdout, "rb"))

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

    def close(self) -> None:
        """Nothing of it is read any more."""
        self._reading.close()


_own: dict[str, str] = {}
"""The environment that our own agent is loaded in."""
_loaded: Hatchery | None = None

DOORS = ([sys.executable, "-m", "rookery", "acp"], player())


async def start(
    argv: list[str], environment: Mapping[str, str], stderr: int, limit: int
) -> Process | None:
    """None: it is to be started afresh, since its start is not that of what is loaded."""
    given = dict(environment)
    loaded, more = _door(argv, given) if _is_door(argv) else (_own_agent(given), {})
    if loaded is None or loaded.place != place():
        return None
    (stdin, writing), (reading, stdout), (status, theirs) = os.pipe(), os.pipe(), os.pipe()
    files = {0: stdin, 1: stdout, 2: stderr, **more, STATUS: theirs}
    try:
        pid = loaded.spawn(argv, "/", given, files)
    finally:
        for file in (stdin, stdout, theirs):
            os.close(file)
    made = Process(pid, status)
    await made.connect(writing, reading, limit)
    return made


def _is_door(argv: list[str]) -> bool:
    return any(argv[: len(door)] == door for door in DOORS)


def _door(
    argv: list[str], environment: dict[str, str]
) -> tuple[Hatchery | Adopted | None, dict[int, int]]:
    own = {name: value for name, value in environment.items() if name.startswith(OWN)}
    if sys.platform != "linux" or own != BEGUN or not fits_proc(argv, environment):
        return None, {}
    return hatchery(DOOR), workers()


def load_agents_in(environment: Mapping[str, str]) -> None:
    """With the first that is asked for."""
    _own.clear()
    _own.update(environment)


def _own_agent(environment: Mapping[str, str]) -> Hatchery | None:
    """None: it would import the SDK differently."""
    global _loaded  # noqa: PLW0603 - one for the run
    if sys.platform != "linux" or _read_at_import(environment) != _read_at_import(_own):
        return None
    _loaded = _loaded or Hatchery(AGENT, _own)
    return _loaded


def _read_at_import(environment: Mapping[str, str]) -> dict[str, str]:
    """As a warm process sees it, but for the home."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith((*warm_agent.READ_AT_IMPORT, *OWN))
        or name.upper().endswith("_PROXY")
        or name in warm_agent.READ_BY_NAME
    }


def start_warm(environment: Mapping[str, str]) -> None:
    """A warm process that has only its own first turn to take; wait until it listens."""
    loaded, given = _own_agent(environment), dict(environment)
    differs = _read_at_import(environment).items() ^ _read_at_import(_own).items()
    assert loaded is not None, f"the environment differs from when the agents began: {differs}"
    with open(os.devnull, "r+b") as null:
        status, theirs = os.pipe()
        files = {0: null.fileno(), 1: null.fileno(), 2: null.fileno(), STATUS: theirs}
        loaded.spawn([sys.executable, "-P", "-m", "rookery.agent.warm"], "/", given, files)
    os.close(theirs)
    with open(status, "rb") as ended:
        assert int(ended.read()) == 0


def end_agents() -> None:
    """Before their home is looked through for what was left."""
    global _loaded  # noqa: PLW0603
    if _loaded is not None:
        _loaded.end()
    _loaded = None
