"""Who watches what: each session that somebody watches is followed once, and what happens in it is
encoded once, for all who watch it.

A client that does not take what it is sent is not waited for: over a bound it is told that it lags,
hears no more of that session, and asks again from the event that it has.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import AsyncExitStack, ExitStack, aclosing, closing, suppress
from functools import partial

from rookery.client.reading import excerpt
from rookery.client.session import Refused, SessionClient
from rookery.core.blocks.document import Op
from rookery.core.json import Event, Json
from rookery.core.json.secrets import encoded
from rookery.core.view.reduce import step
from rookery.daemon.fleet import FLEET, Fleet
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader

OPS, EVENTS = "ops", "events"
MOST_WAITING = 4 * 1024 * 1024
"""Characters that wait for one client at most."""
ROOM = 1024 * 1024
"""Bytes of events in one message, about."""
REPLAYED = 5000
"""Events that a client which was away is told one by one; after more, or more than may wait for it,
it gets the end anew."""
WINDOW = 0.02
"""Seconds in which what happens is gathered into one message."""
LOOKS, WATCHED_LOOKS = 2.0, 0.5
"""Seconds between two looks at the sessions: alone, and while somebody watches their list."""
TOPICS = 200
"""That one client may watch."""


class Watcher:
    """One client's end: what is to be sent to it, in order."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self.closed = False
        self.topics: set[str] = set()
        self._held: dict[str, list[str]] = {}

    def send(self, message: str, topic: str) -> bool:
        """False: too much waits already."""
        if self.closed:
            return True
        if self._size + len(message) > MOST_WAITING and self._size:
            return False
        if topic in self._held:
            self._held[topic].append(message)
            self._size += len(message)
        else:
            self.insist(message)
        return True

    def insist(self, message: str) -> None:
        """For what must be heard."""
        self._waiting.append(message)
        self._size += len(message)
        self._news.set()

    def hold(self, topic: str) -> None:
        """Keep its news back until its beginning has been read."""
        self._held[topic] = []

    def release(self, topic: str, first: Iterable[str], *, cut: bool) -> None:
        """`cut`: more belongs between the beginning and the news; the client asks again for all
        that comes after what it has got."""
        held = self._held.pop(topic, None)
        if held is None:
            return  # it was given up meanwhile
        self._size -= sum(map(len, held))
        for message in first if cut else (*first, *held):
            self.insist(message)
        if cut:
            self.lags(topic)

    def drop(self, topic: str) -> None:
        self.topics.discard(topic)
        self._size -= sum(map(len, self._held.pop(topic, ())))

    def lags(self, topic: str) -> None:
        self.drop(topic)
        self.insist(encoded({"lagged": {"topic": topic}}))

    async def next(self) -> str | None:
        """The next message; None: no more come."""
        while not self._waiting:
            if self.closed:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._waiting.popleft()
        self._size -= len(message)
        return message

    def close(self) -> None:
        self.closed = True
        self._news.set()


class _Followed:
    """One session that is watched."""

    def __init__(self, home: str, session: str, gone: Callable[[str], None]) -> None:
        self._session = session
        self.directory = paths.session_dir(home, session)
        self._client = SessionClient(home, session, "daemon")
        self._gone = gone
        self.header: Json = {}
        self.seq = 0
        self.watchers: dict[Watcher, str] = {}
        self._ops: list[Op] = []
        self._events: list[Event] = []
        self._flush: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        with ExitStack() as undo:
            undo.callback(self._client.close)
            self.seq = self._client.log.last_seq()
            self.header = self._client.log.header_at(self.seq)
            undo.pop_all()
        self._task = asyncio.create_task(self._follow(), name=f"follow {self._session}")

    async def _follow(self) -> None:
        try:
            async with aclosing(self._client.follow(self.seq)) as events:  # type: ignore[type-var]
                async for event in events:
                    self._take(event)
        except (LogError, Refused, OSError) as error:
            self.end(str(error))
            self._client.close()

    def end(self, why: str) -> None:
        """Nothing more comes of it."""
        self._tell_all({"ended": {"topic": self._session, "message": why}})
        self._gone(self._session)

    def _take(self, event: Event) -> None:
        self.header, ops = step(self.header, event)
        self.seq = event.seq
        self._ops += ops
        self._events.append(event)
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(WINDOW, self.flush)

    def flush(self) -> None:
        """Send what has gathered."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        ops, self._ops = self._ops, []
        events, self._events = self._events, []
        if not events:
            return
        messages: dict[str, str] = {}
        for watcher, form in list(self.watchers.items()):
            if form not in messages:
                body = _news(self._session, self.seq, form, ops, events)
                messages[form] = encoded(body)
            if not watcher.send(messages[form], self._session):
                del self.watchers[watcher]
                watcher.lags(self._session)

    def _tell_all(self, message: Json) -> None:
        for watcher in self.watchers:
            watcher.insist(encoded(message))

    async def close(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._client.close()


def beginning(
    directory: str, session: str, form: str, after: int | None, upto: int
) -> Generator[str, None, None]:
    """What a client needs before the news after `upto`, if it has the events up to `after`; None:
    it has none. Read by a reader of its own, in a thread."""
    with Reader.open(directory) as log:
        if form == EVENTS and after is not None:
            while page := log.stretch(after, ROOM, upto):
                after = page[-1].seq
                yield encoded(_news(session, after, EVENTS, [], page))
            return
        if after is not None and after <= upto <= after + REPLAYED:
            events = log.stretch(after, MOST_WAITING, upto)
            if (events[-1].seq if events else after) == upto:
                header, ops = log.header_at(after), list[Op]()
                for event in events:
                    header, more = step(header, event)
                    ops += more
                if ops:
                    yield encoded(_news(session, upto, OPS, ops, events))
                return
        yield encoded({"snapshot": snapshot(log, session, upto)})


def _bounded(pieces: Generator[str, None, None]) -> tuple[list[str], bool]:
    """As many as may wait for a client, and whether there are more."""
    found, size = list[str](), 0
    with closing(pieces):
        for piece in pieces:
            size += len(piece)
            if found and size > MOST_WAITING:
                return found, True
            found.append(piece)
    return found, False


def snapshot(log: Reader, session: str, upto: int | None = None) -> Json:
    """The end of a session, as far as it opens at once."""
    upto = log.last_seq() if upto is None else upto
    found = excerpt(log, upto)
    place = {"topic": session, "seq": upto, "first": found.first, "above": found.above}
    return {**place, "cut": found.cut, **found.document.to_json()}


def _news(topic: str, seq: int, form: str, ops: list[Op], events: list[Event]) -> Json:
    if form == EVENTS:
        news = [event._asdict() for event in events]
        return {"events": {"topic": topic, "seq": seq, "events": news}}
    return {"ops": {"topic": topic, "seq": seq, "ops": _merged(ops)}}


def _merged(ops: list[Op]) -> list[Op]:
    """Appends to one block that follow each other are one."""
    found: list[Op] = []
    for op in ops:
        if op[0] == "append" and found and found[-1][0] == "append" and found[-1][1] == op[1]:
            found[-1] = ["append", op[1], found[-1][2] + op[2]]
        else:
            found.append(op)
    return found


class Hub:
    def __init__(self, home: str, fleet: Fleet) -> None:
        self._home = home
        self._fleet = fleet
        self._followed: dict[str, _Followed] = {}
        self._listed: dict[Watcher, None] = {}
        self._watchers: dict[Watcher, None] = {}
        self._wanted = asyncio.Event()

    def enter(self) -> Watcher:
        watcher = Watcher()
        self._watchers[watcher] = None
        return watcher

    async def leave(self, watcher: Watcher) -> None:
        watcher.close()
        self._watchers.pop(watcher, None)
        for name in list(watcher.topics):
            await self.unsubscribe(watcher, name)

    async def subscribe(
        self,
        watcher: Watcher,
        name: str,
        form: str = OPS,
        after: int | None = None,
        epoch: str = "",
    ) -> None:
        """Raises LogError, PathError."""
        await self.unsubscribe(watcher, name)
        if name == FLEET:
            watcher.topics.add(name)
            self._listed[watcher] = None
            self._tell_fleet(watcher, epoch, after)
            self._wanted.set()
            return
        followed = self._followed.get(name)
        if followed is None:
            followed = _Followed(self._home, name, self._forget)
            followed.begin()
            self._followed[name] = followed
        followed.flush()
        place = followed.directory
        begins = partial(_bounded, beginning(place, name, form, after, followed.seq))
        watcher.topics.add(name)
        watcher.hold(name)
        followed.watchers[watcher] = form
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.unsubscribe, watcher, name)
            first, cut = await asyncio.to_thread(begins)
            undo.pop_all()
        if cut:
            followed.watchers.pop(watcher, None)
        watcher.release(name, first, cut=cut)

    async def unsubscribe(self, watcher: Watcher, name: str) -> None:
        watcher.drop(name)
        if name == FLEET:
            self._listed.pop(watcher, None)
            return
        followed = self._followed.get(name)
        if followed is not None:
            followed.watchers.pop(watcher, None)
            if not followed.watchers:
                del self._followed[name]
                await followed.close()

    def _forget(self, name: str) -> None:
        followed = self._followed.pop(name, None)
        for watcher in list(followed.watchers) if followed else []:
            watcher.drop(name)

    def _tell_fleet(self, watcher: Watcher, epoch: str, after: int | None) -> None:
        news = None if after is None else self._fleet.since(epoch, after)
        if news is None:
            watcher.insist(encoded({"snapshot": self._fleet.to_json()}))
        elif news["ops"]:
            watcher.insist(encoded({"ops": news}))

    # --- the list of sessions --------------------------------------------------------------------

    async def watch_fleet(self) -> None:
        """For ever: look, tell, wait."""
        while True:
            await self.look()
            self._wanted.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(WATCHED_LOOKS if self._listed else LOOKS):
                    await self._wanted.wait()

    async def look(self) -> None:
        """Look at the sessions now."""
        news = await asyncio.to_thread(self._fleet.look)
        if news is None:
            return
        for gone in [op[1] for op in news["ops"] if op[0] == "drop"]:
            followed = self._followed.get(gone)
            if followed is not None and not os.path.isdir(followed.directory):
                followed.end("The session was deleted.")
                await followed.close()
        message = encoded({"ops": news})
        for watcher in list(self._listed):
            if not watcher.send(message, FLEET):
                del self._listed[watcher]
                watcher.lags(FLEET)

    async def close(self) -> None:
        for watcher in list(self._watchers):
            watcher.close()
        for followed in list(self._followed.values()):
            await followed.close()
        self._followed.clear()
