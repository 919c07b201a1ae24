"""A session with watchers: its log is followed once, and each batch of events is encoded once per
form for all watchers."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, aclosing, closing, suppress

from rookery.client.session import SessionClient
from rookery.core.blocks.document import Document, Op
from rookery.core.header import EMPTY
from rookery.core.json import Event, dumps
from rookery.core.json.secrets import encoded
from rookery.core.view.reduce import step
from rookery.daemon.metrics.measures import LAGS, STREAM_DELAY
from rookery.daemon.pieces.live import Live
from rookery.daemon.tail import tail
from rookery.daemon.watcher import MOST_WAITING, Ticker, Watcher
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.reading import snapshot
from rookery.wire.frames import WorkerRefused

OPS, EVENTS, PAGE = "ops", "events", "page"
FORMS = (OPS, EVENTS, PAGE)

type PageOf = Callable[[Document, str], Live]
"""A document of a session as its page."""

ROOM = 1024 * 1024
"""Bytes of events in one message, about."""
REPLAYED = 5000
"""Events that a client which was away is told one by one; after more, or more than may wait for it,
it gets the end anew."""
REACHED = 2.0
"""Seconds until an event that is in the log has come from its worker, at most."""


class Followed:
    def __init__(
        self,
        home: str,
        session: str,
        ticker: Ticker,
        page: PageOf,
        gone: Callable[[str], None],
    ) -> None:
        self._session = session
        self._page = page
        self.directory = paths.session_dir(home, session)
        self._client = SessionClient(home, session, "daemon")
        self._ticker = ticker
        self._gone = gone
        self.header = EMPTY
        self.seq = self._sent = 0
        self.watchers: dict[Watcher, str] = {}
        self._ops: list[Op] = []
        self._events: list[Event] = []
        self._live: Live | None = None
        self._meanwhile: list[Op] | None = None
        """What happens while the page is opened."""
        self._opening = asyncio.Lock()
        self._came = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        with ExitStack() as undo:
            undo.callback(self._client.close)
            self.seq = self._sent = self._client.log.last_seq()
            self.header = self._client.log.header_at(self.seq)
            undo.pop_all()
        self._task = asyncio.create_task(self._follow(), name=f"follow {self._session}")

    async def _follow(self) -> None:
        try:
            async with aclosing(self._client.follow(self.seq)) as events:  # type: ignore[type-var]
                async for event in events:
                    self._take(event)
        except (LogError, WorkerRefused, OSError) as error:
            self.end(str(error))
            self._client.close()

    def end(self, why: str) -> None:
        """Tell the watchers that nothing more will come, and stop."""
        message = encoded({"ended": {"topic": self._session, "message": why}})
        for watcher in self.watchers:
            watcher.insist(message)
        self._gone(self._session)

    def _take(self, event: Event) -> None:
        self.header, ops = step(self.header, event)
        self.seq = event.seq
        self._came.set()
        self._ops += ops
        self._events.append(event)
        self._ticker.due(self.flush)

    def flush(self) -> None:
        """Send the ops and events that have gathered."""
        ops, self._ops = self._ops, []
        events, self._events = self._events, []
        if not events:
            return
        self._sent = self.seq
        if self.watchers:
            STREAM_DELAY.observe(time.time() - events[0].at / 1000)
        if PAGE not in self.watchers.values():
            self._live = None
        messages: dict[str, str] = {}
        if self._meanwhile is not None:
            self._meanwhile += ops
        for watcher, form in list(self.watchers.items()):
            if form not in messages:
                messages[form] = self._message(form, ops, events)
            if messages[form] and not watcher.send(messages[form], self._session):
                del self.watchers[watcher]
                watcher.lags(self._session)
                LAGS.add()

    def _message(self, form: str, ops: list[Op], events: list[Event]) -> str:
        """Encode a message; "" if the page is still being opened or shows none of the changes."""
        if form == EVENTS:
            return events_message(self._session, self.seq, events)
        if form == OPS:
            return ops_message(self._session, self.seq, ops)
        if self._live is None:
            return ""
        self._live.take(ops)
        return page_message(self._session, self._sent, self._live)

    async def join(self, watcher: Watcher, form: str, after: int | None) -> tuple[list[str], bool]:
        """Return the messages that a watcher needs first, if it has the events up to `after` (None:
        none), and whether there are more than fit. From then on the watcher is sent new events,
        which it holds back."""
        if form != PAGE:
            self._enter(watcher, form)
            messages = beginning(self.directory, self._session, form, after, self.seq)
            return await asyncio.to_thread(_bounded, messages)
        async with self._opening:
            await self._reach(after or 0)
            self._enter(watcher, form)
            self._meanwhile = [] if self._live is None else None
            try:
                given = self.directory, self._session, self._page, after, self.seq
                live, message = await asyncio.to_thread(page_beginning, *given)
                if self._meanwhile is not None and watcher in self.watchers:
                    live.take(self._meanwhile)
                    self._live = live
                    self._send_page()
            finally:
                self._meanwhile = None
        return ([message] if message else []), False

    async def _reach(self, seq: int) -> None:
        """Wait, within REACHED seconds, until event `seq` has arrived: a page may have read it in
        the log before it came from the worker."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REACHED):
                while self.seq < seq:
                    self._came.clear()
                    await self._came.wait()

    def _send_page(self) -> None:
        """Send the page's changes to those who waited until it was opened."""
        message = self._message(PAGE, [], [])
        for watcher in [each for each, form in self.watchers.items() if form == PAGE]:
            if message:
                watcher.send(message, self._session)

    def _enter(self, watcher: Watcher, form: str) -> None:
        self.flush()
        self.watchers[watcher] = form

    def leave(self, watcher: Watcher) -> None:
        self.watchers.pop(watcher, None)

    async def close(self) -> None:
        self._ticker.forget(self.flush)
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._client.close()


def beginning(
    directory: str, session: str, form: str, after: int | None, upto: int
) -> Generator[str, None, None]:
    """Yield the messages that a client needs to reach the event `upto`, if it has the events up to
    `after` (None: none). Opens a log reader of its own, so that it can run in a thread."""
    with Reader.open(directory) as log:
        if form == EVENTS and after is not None:
            while page := log.stretch(after, ROOM, upto):
                after = page[-1].seq
                yield events_message(session, after, page)
            return
        if after is not None and after <= upto <= after + REPLAYED:
            events = log.stretch(after, MOST_WAITING, upto)
            if (events[-1].seq if events else after) == upto:
                header, ops = log.header_at(after), list[Op]()
                for event in events:
                    header, more = step(header, event)
                    ops += more
                if ops:
                    yield ops_message(session, upto, ops)
                return
        yield encoded({"snapshot": snapshot(log, session, upto)})


def _bounded(pieces: Generator[str, None, None]) -> tuple[list[str], bool]:
    """Return as many pieces as may be queued for a client, and whether there are more."""
    messages, size = list[str](), 0
    with closing(pieces):
        for piece in pieces:
            size += len(piece)
            if messages and size > MOST_WAITING:
                return messages, True
            messages.append(piece)
    return messages, False


def page_beginning(
    directory: str, session: str, page: PageOf, after: int | None, upto: int
) -> tuple[Live, str]:
    """Return the live page as of event `upto`, and the message that brings a browser there from
    `after`."""
    with Reader.open(directory) as log:
        if after is not None and after <= upto <= after + REPLAYED:
            events = log.stretch(after, MOST_WAITING, upto)
            if (events[-1].seq if events else after) == upto:
                live, header = _page_at(log, session, page, after)[0], log.header_at(after)
                for event in events:
                    header, ops = step(header, event)
                    live.take(ops)
                message = page_message(session, upto, live)
                if not live.missed and len(message) <= MOST_WAITING:
                    return live, message
        live, first, older = _page_at(log, session, page, upto)
        place = {"topic": session, "seq": upto, "first": first, "older": older}
        shown = {"html": live.html(), "regions": live.regions()}
        return live, dumps({"snapshot": {**place, **shown}})


def _page_at(log: Reader, session: str, page: PageOf, seq: int) -> tuple[Live, int, bool]:
    excerpt = tail(log, seq)
    return page(excerpt.document, session), excerpt.first, excerpt.older


def events_message(topic: str, seq: int, events: list[Event]) -> str:
    news = [event._asdict() for event in events]
    return encoded({"events": {"topic": topic, "seq": seq, "events": news}})


def ops_message(topic: str, seq: int, ops: list[Op]) -> str:
    return encoded({"ops": {"topic": topic, "seq": seq, "ops": _merged(ops)}})


def page_message(topic: str, seq: int, live: Live) -> str:
    """Encode the page's pending changes, or return "" if there are none. Secrets were masked before
    they became HTML."""
    changes = live.flush()
    return dumps({"page": {"topic": topic, "seq": seq, "ops": changes}}) if changes else ""


def _merged(ops: list[Op]) -> list[Op]:
    """Merge consecutive appends to the same block into one."""
    merged: list[Op] = []
    for op in ops:
        if op[0] == "append" and merged and merged[-1][0] == "append" and merged[-1][1] == op[1]:
            merged[-1] = ["append", op[1], merged[-1][2] + op[2]]
        else:
            merged.append(op)
    return merged
