"""A watcher process (`watcher.py`) that is started again whenever it was killed."""

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from rookery.core.json.events import Event, event_from_json
from tests.worker.aviary import PATIENCE, Bird

WATCHER = Path(__file__).with_name("watcher.py")


class Client:
    """A watcher process that is started again whenever it was killed."""

    def __init__(self, bird: Bird, path: Path) -> None:
        self.path = path
        self._argv = [sys.executable, str(WATCHER), bird.home, bird.id, str(path)]
        self._process: asyncio.subprocess.Process | None = None

    async def pipe(self) -> asyncio.StreamWriter:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(*self._argv, stdin=subprocess.PIPE)
        assert self._process.stdin is not None
        return self._process.stdin

    async def send(self, command: dict[str, Any]) -> None:
        (await self.pipe()).write(json.dumps(command).encode() + b"\n")

    async def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def see(self, upto: int) -> None:
        """Let it see the end of the log; then it ends."""
        await self.send({"upto": upto})
        assert self._process is not None
        async with asyncio.timeout(PATIENCE):
            assert await self._process.wait() == 0

    def shown(self) -> list[Event]:
        lines = self.path.read_bytes().split(b"\n")[:-1]
        return [event_from_json(json.loads(line)) for line in lines]
