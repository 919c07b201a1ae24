"""The thread that reads files and sockets, so that no key waits for them: it follows one session,
sends commands and watches the session list."""

import asyncio
import importlib
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from textual.message import Message

from rookery import tui
from rookery.core.blocks import Document, Op
from rookery.core.json import Json
from rookery.core.refusals import Refused, sentences
from rookery.tui import transcript
from rookery.tui.messages import (
    Fetched,
    FleetChanged,
    LinkChanged,
    Made,
    News,
    Older,
    Opened,
    Sent,
    Trouble,
)
from rookery.tui.pace import Pace

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.operations.calling.interface import Rookery, Session
    from rookery.tui.new_session import Prompt
    from rookery.tui.transcript.window import Page

FRAME = 0.04
"""Seconds between two News: as often as a screen is painted."""

SHARE = 4.0
"""The time between two News, in multiples of what the screen needs for one."""

SLOWEST = 0.5

TYPING = 0.12
"""The time between two News while the user types, and looks there and not at the stream."""

HANDS_OFF = 0.5
"""Seconds after a key from which on the user is not typing."""

KEY_FIRST = 0.015
"""Seconds after a key in which it is painted, and no News is told."""


class ReaderThread:
    """Reads and sends in a thread of its own. `tell` is called from that thread: a widget's or an
    app's `post_message`."""

    def __init__(
        self, home: str, tell: Callable[[Message], object], other: "Rookery | None" = None
    ) -> None:
        """`other`: the Rookery to talk to; None: this machine's."""
        self.home = home
        self._rookery = other
        self._tell = tell
        self._loop: asyncio.AbstractEventLoop | None = None
        """None before the start and after the stop: then nothing is done."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: asyncio.Task[None] | None = None
        self._client: Session | None = None
        self._broken = ""
        self._looked = asyncio.Event()
        self._making: list[Prompt] | None = None
        """Prompts for a session that is being made."""
        self.frame_took = 0.0
        """Seconds that the screen needed for the last News: a busy screen gets fewer, so that keys
        come between."""
        self.typed = -HANDS_OFF
        """When the last key was pressed."""

    @property
    def rookery(self) -> "Rookery":
        if self._rookery is None:
            from rookery.operations.calling.reaching import rookery_at  # not for the first paint

            self._rookery = rookery_at(self.home)
        return self._rookery

    def _spacing(self, urgent: bool) -> float:
        typing = time.monotonic() - self.typed < HANDS_OFF
        least = TYPING if typing and not urgent else FRAME
        return min(max(least, SHARE * self.frame_took), SLOWEST)

    def _key_first(self) -> float:
        """Return the seconds until the last key is painted."""
        return KEY_FIRST - (time.monotonic() - self.typed)

    def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        run = (self._loop,)
        self._thread = threading.Thread(target=self._run, args=run, name="reader", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; workers keep running."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(self._end, loop)
            self._thread.join(2)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        for task in self._tasks:
            task.cancel()
        loop.call_later(0.05, loop.stop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.call_soon(lambda: self._do(self._watch_fleet()))
        try:
            loop.run_forever()
        finally:
            loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tell(Trouble(f"{type(error).__name__}: {error}"))

    def run[Read](
        self,
        work: Callable[[], Coroutine[Any, Any, Read]],
        then: Callable[[Read], object] | None = None,
    ) -> None:
        """Run `work` in this thread; `then` gets its result, in the screen's thread."""

        async def do() -> None:
            outcome = await work()
            if then is not None:
                self.call(then, outcome)

        self._soon(lambda: self._do(do()))

    def fetch[Read](self, work: Callable[[], Read], then: Callable[[Read], object]) -> None:
        """Run blocking work in another thread; `then` gets its result, in the screen's."""
        self.run(lambda: asyncio.to_thread(work), then)

    def call(self, then: Callable[..., object], *args: Any) -> None:
        """Call something in the screen's thread."""
        self._tell(Fetched(then, args))

    def call_in(self, call: Callable[..., object], *given: Any) -> None:
        """Call something in this thread."""
        self._soon(lambda: call(*given))

    def _soon(self, call: Callable[[], object]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call)

    # --- what the screen asks for --------------------------------------------------------------

    def open(self, session: str) -> None:
        """Follow this session, and no other."""

        def begin() -> None:
            if self._following is not None:
                self._following.cancel()
            self._following = self._do(self._follow(session))

        self._soon(begin)

    def older(self, session: str, before: int, upto: int = 0) -> None:
        """Read the pages before an event; `upto`: as far as that event."""
        self.run(lambda: self._older(session, before, upto))

    def send(self, session: str, command: Json, files: "Sequence[Attachment]" = ()) -> None:
        """Send a command to a session; `files` go with a prompt."""
        self.run(lambda: self._send(session, command, files))

    def make(
        self,
        agent: str,
        cwd: str,
        prompt: list[Json],
        files: "Sequence[Attachment]" = (),
        confirm: str = "",
        worktree: str | None = None,
        sandbox: str = "",
        argv: Sequence[str] = (),
    ) -> None:
        """Create a session, and send its first prompt if there is one. Prompts sent from the same
        screen before the session exists go into its queue."""
        given: Json = {
            "agent": agent,
            "cwd": cwd,
            "confirm": confirm,
            "worktree": worktree,
            "sandbox": sandbox,
        }
        given |= {"argv": argv} if argv else {}
        command: Json = {"do": "prompt", "prompt": prompt}
        first: list[Prompt] = [(command, files)] if prompt or files else []

        async def make() -> None:
            if self._making is not None and first:
                self._making += first
                return
            waiting = self._making = first
            try:
                rookery = self.rookery
                session, why = await asyncio.to_thread(tui.new_session.created, rookery, **given)
                if why:
                    self._tell(tui.new_session.unsent(waiting, why))
                    return
                self._tell(Made(session))
                self._looked.set()
                while waiting:
                    await self._send(session, *waiting.pop(0))
            finally:
                if self._making is waiting:
                    self._making = None

        self.run(make)

    def begin_another(self) -> None:
        """Send prompts to another new session from now on."""

        async def begin() -> None:  # after those that were asked for before
            self._making = None

        self.run(begin)

    def glance(self) -> None:
        """Look at the sessions now."""
        self._soon(self._looked.set)

    def blob(self, session: str, name: str, then: Callable[[bytes | None], object]) -> None:
        """Read the bytes that a part names; `then` gets None if they are gone."""

        def read() -> bytes | None:
            with suppress(Refused), self.rookery.history(session) as log:
                return log.blob(name)
            return None

        self.fetch(read, then)

    def recap(self, session: str, before: int | None, then: Callable[[str, str], object]) -> None:
        """Fetch a recap of the session; `then` gets it, or "" and why there is none."""

        def read() -> tuple[str, str]:
            try:
                reply = self.rookery.call("recap", session, before=before or 0)
                return reply["text"], "Nothing to recap yet."
            except Refused as error:
                return "", error.sentences

        self.fetch(read, lambda outcome: then(*outcome))

    def warm(self, modules: Sequence[str], then: Callable[[], object]) -> None:
        """Load what the first block will need, before it is needed."""

        async def load() -> None:
            for module in modules:
                importlib.import_module(module)
                await asyncio.sleep(0)
            self.call(then)

        self.run(load)

    # --- the sessions --------------------------------------------------------------------------

    async def _watch_fleet(self) -> None:
        fleet = self.rookery.fleet(self._looked, self._link_changed)
        try:
            async with aclosing(fleet) as lists:  # type: ignore[type-var]
                async for blocks in lists:
                    self._tell(FleetChanged(blocks))
        except Refused as error:
            self._tell(Trouble(error.sentences))

    def _link_changed(self, broken: str) -> None:
        """Report each break once, and that it is over."""
        if bool(broken) != bool(self._broken):
            self._tell(LinkChanged(broken))
        self._broken = broken

    # --- one session ---------------------------------------------------------------------------

    async def _follow(self, session: str) -> None:
        try:
            client = self.rookery.open(session, "terminal")
        except Refused as error:
            self._tell(Trouble(error.sentences, session))
            return
        self._client = client
        due = asyncio.Event()
        client.on_silence = due.set
        watching: asyncio.Task[None] | None = None
        try:
            watching = self._do(tui.worker_watch.watch(self.rookery, session, due, self._tell))
            while True:  # a rewind shows other turns: it is opened again
                document, seq, pages = await self._read(
                    lambda: transcript.pages.last_pages(client.log)
                )
                self._tell(Opened(session, transcript.pages.shown_header(document), pages))
                if "unloaded" in (document.header.agent_session or ()):
                    self.send(session, {"do": "start"})  # its agent has the history
                await self._stream(client, document, seq)
        except Refused as error:
            self._tell(Trouble(error.sentences, session))
        finally:
            if watching is not None:
                watching.cancel()
            self._client = None if self._client is client else self._client
            client.close()

    async def _read[Read](self, work: Callable[[], Read]) -> Read:
        """Read at once if that is as fast as a file; query another machine in a thread."""
        return work() if self.rookery.answers_at_once else await asyncio.to_thread(work)

    async def _stream(self, client: "Session", document: Document, seq: int) -> None:
        """Follow the session's events until a rewind."""
        from rookery.core.view.reduce import reduce

        def tell(ops: list[Op]) -> None:
            self._tell(News(client.session, ops))

        pace = Pace(tell, self._spacing, self._key_first)
        turn, hidden = document.header.turn, document.header.hidden
        async with aclosing(client.follow(seq)) as events:  # type: ignore[type-var]
            async for event in events:
                ops = reduce(document, event)
                pace.add(ops)
                if document.header.hidden != hidden:
                    return
                if document.header.turn != turn:
                    # The screen has the blocks of the turn that is over.
                    turn = document.header.turn
                    _drop_older(document, turn)

    async def _older(self, session: str, before: int, upto: int) -> None:
        def read() -> "list[Page]":
            with self.rookery.history(session) as log:
                if upto:
                    return transcript.pages.pages_upto(log, before, upto)
                return transcript.pages.older_pages(log, before)

        try:
            threaded = bool(upto or not self.rookery.answers_at_once)
            pages = await asyncio.to_thread(read) if threaded else read()
        except Refused as error:
            self._tell(Trouble(error.sentences, session))
            pages = []
        self._tell(Older(session, pages, before))

    async def _send(self, session: str, command: Json, files: "Sequence[Attachment]" = ()) -> None:
        mine = self._client if self._client and self._client.session == session else None
        problem, outcome = "", dict[str, Any]()
        try:
            client = mine or self.rookery.open(session, "terminal")
            try:
                await client.renew(command)  # the session says which variables differ
                outcome = (await client.send(command, files=files)).update
            finally:
                if mine is None:
                    client.close()
        except (Refused, OSError) as error:
            problem = sentences(error)
        self._tell(Sent(session, command, problem, outcome, files))
        self._looked.set()


def _drop_older(document: Document, turn: int) -> None:
    kept = {n: b for n, b in document.blocks.items() if n.startswith(f"{turn}.")}
    document.blocks = kept
    document.late, document.carried = {}, {}
