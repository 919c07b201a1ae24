"""A shell command of the user's, run in the session's directory."""

import asyncio
import codecs
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from rookery.tui.reader import ReaderThread

PIECE = 65_536


class ShellLine:
    """`say` gets its output, and at the end its exit code."""

    def __init__(self, reader: ReaderThread, say: Callable[[str, int | None], object]) -> None:
        self._reader = reader
        self._say = say
        self._process: asyncio.subprocess.Process | None = None

    def run(self, line: str, cwd: str) -> None:
        self._reader.run(lambda: self._run(line, cwd))

    def _tell(self, text: str, code: int | None = None) -> None:
        self._reader.call(self._say, text, code)

    async def _run(self, line: str, cwd: str) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *(os.environ.get("SHELL") or "/bin/sh", "-c", line),
                cwd=cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._tell(f"{error.strerror or error}\n", 127)
            return
        self._process = process
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while data := await process.stdout.read(PIECE):
                self._tell(decoder.decode(data))
                await asyncio.sleep(0.05)  # a flood is shown, not chased
            code = await process.wait()
        finally:
            self._process = None
            _signal(process, signal.SIGKILL)
        self._tell("", code)

    def stop(self) -> None:
        """SIGINT, then SIGKILL."""

        async def stop() -> None:
            process = self._process
            if process is None:
                return
            _signal(process, signal.SIGINT)
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await process.wait()
            _signal(process, signal.SIGKILL)

        self._reader.run(stop)


def _signal(process: asyncio.subprocess.Process, how: signal.Signals) -> None:
    """The whole group, which may outlive its first process."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
