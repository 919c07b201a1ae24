"""Following a session: its events as text or as lines of JSON. Leaving does not stop it."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from rookery.cli import target
from rookery.cli.output import Screen, clean_line
from rookery.cli.output.answer import Answer
from rookery.cli.output.transcript import Transcript
from rookery.core.ask import asks_of
from rookery.core.blocks import Document
from rookery.core.header import Header
from rookery.core.json import Event, dumps
from rookery.core.view.fleet import state_of
from rookery.core.view.reduce import reduce
from rookery.log.errors import NoSession
from rookery.operations.calling.interface import Session
from rookery.render import session_state

TICK = 1.0


class Watch:
    """Applies events to a document and writes what they change, until the session is deleted.

    If `showing` is False, events are applied but not written."""

    def __init__(
        self,
        client: Session,
        screen: Screen,
        document: Document,
        transcript: Transcript | None,
        answer: Answer | None = None,
    ) -> None:
        """Set up the watch. Without a transcript, events are written as lines of JSON. With an
        answer, the agent's messages go there."""
        self.client = client
        self.screen = screen
        self.document = document
        self.showing = True
        self._transcript = transcript
        self._answer = answer
        self._gone = False
        self._broken = False
        client.on_link = self._say_link

    async def events(self, since: int) -> AsyncGenerator[Event, None]:
        """Yield each event once it was applied and written, without end."""
        watcher = asyncio.current_task()
        assert watcher is not None
        ticking = asyncio.create_task(self._tick(watcher), name="status line")
        try:
            async for event in self.client.follow(since):
                self._take(event)
                if self.showing and self.document.header.news == event.seq:
                    await asyncio.to_thread(self.client.mark_seen, event.seq)
                yield event
        except asyncio.CancelledError:
            if not self._gone:
                raise
            watcher.uncancel()
            raise NoSession(f"Session {self.client.session} was deleted.") from None
        finally:
            ticking.cancel()
            self.finish()

    def _say_link(self, broken: str) -> None:
        """Report a broken link to another machine once per break, and that it is back."""
        if broken and not self._broken:
            self.screen.note(clean_line(f"{broken} Trying again; the session keeps running."))
        elif self._broken and not broken:
            self.screen.note("Connected again.")
        self._broken = bool(broken)

    def finish(self) -> None:
        if self._answer is not None:
            self._answer.close()
        if self._transcript is not None:
            self._transcript.finish()

    def _take(self, event: Event) -> None:
        ops = reduce(self.document, event)
        if not self.showing:
            return
        if self._transcript is None:
            self.screen.line(dumps(event._asdict()))
            return
        if self._answer is not None:
            self._answer.hear(event, ops)
        self._transcript.feed(self.document, ops)
        self._show_status()

    async def _tick(self, watcher: "asyncio.Task[Any]") -> None:
        while True:
            await asyncio.sleep(TICK)
            if self.client.is_gone():
                self._gone = True
                watcher.cancel()
                return
            self._show_status()

    def _show_status(self) -> None:
        if self._transcript is not None and self.showing:
            self._transcript.status(self.document, time.time_ns() // 1_000_000)


def attend(
    main: Callable[[], Coroutine[Any, Any, int]], screen: Screen, farewell: Callable[[], str]
) -> int:
    """Run `main` until it is done, or until a signal tells us to leave; return the exit code.

    The first Ctrl-C, hang-up or TERM leaves with a message; a second one ends the process."""
    left: list[int] = []

    async def attended() -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def leave(number: int) -> None:
            left.append(number)
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(each)
                signal.signal(each, signal.SIG_DFL)
            task.cancel()

        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) != signal.SIG_IGN:  # nohup
                loop.add_signal_handler(each, leave, each)
        return await main()

    with asyncio.Runner() as runner:
        try:
            return runner.run(attended())
        except asyncio.CancelledError:
            if not left:
                raise
        if left[0] != signal.SIGHUP:
            screen.note(("\n" if screen.live else "") + farewell())
        # Does not wait for threads: one may still wait for a worker to start.
        sys.stdout.flush()
        os._exit(128 + left[0])


def farewell(session: str, command: str = "") -> str:
    """Return the message on leaving. `command`: the prompt's id, which may not have arrived."""
    rookery = target.rookery()
    head = rookery.head(session)
    if head is None:
        return f"Session {session} was deleted."
    with rookery.history(session) as log:
        if command and log.find(command) is None:
            return f"Left before the prompt was sent. The session is {session}."
        header = log.header()
    return status_text(session, state_of(head, awake=head["awake"]), header)


def status_text(session: str, state: str, header: Header) -> str:
    """Return what the session does now, and the commands for it."""
    tail = f"  rookery tail {session}     to watch it"
    cancel = f"  rookery cancel {session}   to end its turn"
    if any(not ask.ruled for ask in asks_of(header).values()):
        answer = f"  rookery answer {session}   to answer it"
        return "\n".join([f"Session {session} is waiting for your answer.", answer, tail, cancel])
    if state == "running":
        sentence = f"Session {session} keeps running."
        if not header.never_asks and not header.unattended:  # else it never asks
            sentence += " If it needs an answer, it waits for you."
        return "\n".join([sentence, tail, cancel])
    if state == "waiting":
        sentence = f"Session {session} is waiting: too many sessions are running (max_workers)."
        return "\n".join([sentence, "The prompt is kept and starts automatically.", tail])
    now = time.time_ns() // 1_000_000
    lines = [
        f"Session {session}: {session_state.status_of(header, now, awake=state != 'asleep').label}"
    ]
    lines.append(f"  rookery show {session}     to read it")
    lines += [f"  rookery queue {session}    to send or clear them"] if header.queue else []
    return "\n".join(lines)
