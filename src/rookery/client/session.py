"""A client's view of one session: its events as they come, and commands that are sent until they
are done.

Clients read history from the file; the socket carries only news, and every gap is filled from the
file.
The client owns the retry (law 5): it makes the command's id and sends it again until it sees that
id in the log.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress

from rookery import paths
from rookery.build import build
from rookery.client.asleep import bury, carry_out, left_open, lock_path
from rookery.client.start import reach_worker
from rookery.core import commands
from rookery.core.events import Event, Json, event_from_json, kind_of, loads
from rookery.log.errors import Busy
from rookery.log.lock import is_held
from rookery.log.reader import Reader
from rookery.wire import frames

AWAITS = 0.25
"""Seconds between two looks for a worker, while a sleeping session is followed."""

RESEND = 10.0
"""Seconds without an outcome after which a command is sent again."""

PAGE = 1000


class Rejected(Exception):
    """The session did not take a command."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Refused(Exception):
    """The worker did not take the connection."""


class Link:
    """One connection to a worker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, path: str, client: str, after: int) -> "Link | None":
        """None where nobody listens."""
        limit = 2 * frames.NEWS_BYTES
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=limit)
        except (OSError, ValueError):
            return None
        link = cls(reader, writer)
        writer.write(frames.hello(build(), client, after))
        return link

    def command(self, command: Json) -> None:
        self._writer.write(frames.encode("command", command))

    async def frame(self) -> tuple[str, object] | None:
        """The next frame, or None at the end."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):
            return None
        if not line.endswith(b"\n"):
            return None
        kind, body = frames.kind_and_body(loads(line))
        if kind == "refused":
            message = body.get("message") if isinstance(body, dict) else None
            raise Refused(str(message or "The worker refused the connection."))
        return kind, body

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class SessionClient:
    """Use one instance for one task at a time that follows, and any number that send."""

    def __init__(self, home: str, session: str, client: str = "cli") -> None:
        self.home = home
        self.session = session
        self.directory = paths.session_dir(home, session)
        self._name = f"{client}:{os.getpid()}"
        self._socket = paths.socket_path(self.directory)
        self._reader = Reader.open(self.directory)

    def close(self) -> None:
        self._reader.close()

    @property
    def log(self) -> Reader:
        """For history: pages, headers, blobs."""
        return self._reader

    # --- following ------------------------------------------------------------------------------

    async def follow(self, since: int = 0) -> AsyncIterator[Event]:
        """Every event after `since`, in order, each once, for ever. Looking starts no worker."""
        last = since
        while True:
            link = await Link.open(self._socket, self._name, last)
            try:
                if link is None:
                    self._bury_the_dead()
                for event in self._history(last):
                    yield event
                    last = event.seq
                if link is None:
                    await asyncio.sleep(AWAITS)
                    continue
                while (frame := await link.frame()) is not None:
                    for event in self._news(frame, last):
                        yield event
                        last = event.seq
            finally:
                if link is not None:
                    await link.close()

    def _history(self, after: int, upto: int | None = None) -> list[Event]:
        found: list[Event] = []
        while page := self._reader.read(after, PAGE, upto):
            found += page
            after = page[-1].seq
        return found

    def _news(self, frame: tuple[str, object], last: int) -> list[Event]:
        """The events that a frame brings: itself, or what the file has up to there."""
        match frame:
            case ("event", dict(body)):
                event = event_from_json(body)
                if event.seq <= last:
                    return []
                gap = self._history(last, event.seq - 1) if event.seq > last + 1 else []
                return [*gap, event]
            case ("behind" | "lagged", int(seq)) if seq > last:
                return self._history(last, seq)
            case ("welcome", {"seq": int(seq)}) if seq > last:
                return self._history(last, seq)
        return []

    def _bury_the_dead(self) -> None:
        if is_held(lock_path(self.directory)):
            return
        if left_open(self._reader.header_before(self._reader.turns() + 1)):
            with suppress(Busy):
                bury(self.directory)

    # --- sending --------------------------------------------------------------------------------

    async def send(self, command: Json, *, wake: bool | None = None) -> Event:
        """Send a command until its outcome is in the log; the outcome. Raises Rejected,
        StartError."""
        command = {"id": os.urandom(8).hex(), **command}
        wake = commands.wakes(command) if wake is None else wake
        outcome = self._reader.find(command["id"])
        while outcome is None:
            link = await Link.open(self._socket, self._name, self._reader.last_seq())
            if link is not None:
                try:
                    outcome = await self._ask(link, command)
                finally:
                    await link.close()
            elif wake:
                await asyncio.to_thread(reach_worker, self.home, self.session)
            else:
                with suppress(Busy):
                    carry_out(self.directory, command, self._name)
            outcome = outcome or self._reader.find(command["id"])
        if kind_of(outcome.update) == "_rejected":
            raise Rejected(str(outcome.update.get("reason")), str(outcome.update.get("message")))
        return outcome

    async def _ask(self, link: Link, command: Json) -> Event | None:
        """Send once and wait for the outcome; None when the worker went away or says nothing."""
        link.command(command)
        with suppress(TimeoutError):
            async with asyncio.timeout(RESEND):
                while (frame := await link.frame()) is not None:
                    match frame:
                        case ("event", {"cause": cause, **_rest}) if cause == command["id"]:
                            return self._reader.find(command["id"])
                        # The outcome may be older than this connection: the worker ignores an
                        # id that it knows, and says nothing more.
                        case ("welcome" | "behind" | "lagged", _):
                            if (found := self._reader.find(command["id"])) is not None:
                                return found
        return None
