"""What the engine room does for whoever writes: reads the past, finds files, loads attachments,
runs shell lines."""

import asyncio
import codecs
import os
import signal
import time
from contextlib import suppress

from rookery.core.json.events import Json
from rookery.tui.reader import Room
from rookery.tui.writing import news

FRESH = 10.0
"""Seconds that a list of files counts."""

PIECE = 65_536


class Errands:
    def __init__(self, room: Room) -> None:
        self._room = room
        self._files: tuple[str, float, list[str]] = ("", 0.0, [])
        self._wanted = ""
        self._shell: asyncio.subprocess.Process | None = None

    # --- the past ------------------------------------------------------------------------------

    def read_past(self, cwd: str) -> None:
        async def read() -> None:
            from rookery.tui.writing import history

            entries = await asyncio.to_thread(history.read, self._room.home, cwd)
            self._room.tell(news.PastRead(entries))

        self._room.run(read)

    def keep(self, cwd: str, text: str) -> None:
        async def keep() -> None:
            from rookery.tui.writing import history

            await asyncio.to_thread(history.keep, self._room.home, cwd, text)

        self._room.run(keep)

    def keep_feedback(self, said: Json) -> None:
        async def keep() -> None:
            from rookery.tui.widgets import feedback

            await asyncio.to_thread(feedback.keep, self._room.home, said)

        self._room.run(keep)

    # --- files ---------------------------------------------------------------------------------

    def find_files(self, cwd: str, query: str) -> None:
        """The last question alone is answered."""
        self._wanted = query

        async def find() -> None:
            from rookery.tui.writing import files, fuzzy

            if query != self._wanted:
                return
            place, when, names = self._files
            if place != cwd or time.monotonic() - when > FRESH:
                names = await asyncio.to_thread(files.listed, cwd)
                self._files = (cwd, time.monotonic(), names)
            if query == self._wanted:
                best = await asyncio.to_thread(fuzzy.ranked, query, names)
                self._room.tell(news.FilesFound(query, best, len(names)))

        self._room.run(find)

    # --- attachments ---------------------------------------------------------------------------

    def attach(self, session: str, files: list[str], pasted: str = "") -> None:
        async def attach() -> None:
            from rookery.client.attach import Unattachable, load

            try:
                found = await asyncio.to_thread(load, files)
            except Unattachable as error:
                self._room.tell(news.Unattached(str(error), pasted))
            else:
                self._room.tell(news.Attached(session, *found, pasted=pasted))

        self._room.run(attach)

    def paste(self, session: str) -> None:
        """An image of the system's clipboard."""

        async def paste() -> None:
            from rookery.tui.writing import clipboard

            try:
                found = await clipboard.read()
            except clipboard.NoImage as error:
                self._room.tell(news.NotPasted(str(error)))
            else:
                self._room.tell(news.Attached(session, found))

        self._room.run(paste)

    # --- recap ---------------------------------------------------------------------------------

    def recap(self, session: str) -> None:
        async def recap() -> None:
            self._room.tell(news.Recapped(session, await asyncio.to_thread(self._recap, session)))

        self._room.run(recap)

    def _recap(self, session: str) -> str:
        from rookery.client.reading import recap
        from rookery.home.paths import session_dir
        from rookery.log.errors import LogError
        from rookery.log.reader import Reader

        try:
            with Reader.open(session_dir(self._room.home, session)) as log:
                return recap(log).text()
        except LogError:
            return ""

    # --- shell lines ---------------------------------------------------------------------------

    def run_shell(self, line: str, cwd: str) -> None:
        self._room.run(lambda: self._run_shell(line, cwd))

    async def _run_shell(self, line: str, cwd: str) -> None:
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
            self._room.tell(news.ShellSaid(f"{error.strerror or error}\n", 127))
            return
        self._shell = process
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while data := await process.stdout.read(PIECE):
                self._room.tell(news.ShellSaid(decoder.decode(data)))
                await asyncio.sleep(0.05)  # a flood is shown, not chased
            code = await process.wait()
        finally:
            self._shell = None
            _end(process, signal.SIGKILL)
        self._room.tell(news.ShellSaid("", code))

    def end_shell(self) -> None:
        """First asked to end, then made to."""

        async def end() -> None:
            process = self._shell
            if process is None:
                return
            _end(process, signal.SIGINT)
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await process.wait()
            _end(process, signal.SIGKILL)

        self._room.run(end)


def _end(process: asyncio.subprocess.Process, how: signal.Signals) -> None:
    """The whole group, which outlives its first process as long as one of it is there."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
