"""One client's end of the stream: the queue of messages to send to it, and the timing."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from rookery.core.json.secrets import encoded

MOST_WAITING = 4 * 1024 * 1024
"""Characters that wait for one client at most."""
WINDOW, SLOWEST = 0.02, 0.1
"""Seconds in which what happens is gathered into one message."""
SHARE = 2
"""How many times as long as the last round took, and came late, the next window is at least."""
FEW = 4
"""Sessions of which the first news are sent at once."""


class Watcher:
    """A client's queue. Nobody waits for a slow client: above a limit it is told that it lags, gets
    no more of that topic, and subscribes again from the event that it has."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self.closed = False
        self.topics: set[str] = set()
        self._held: dict[str, list[str]] = {}

    def send(self, message: str, topic: str) -> bool:
        """Queue a message of a topic; return False if too much is queued already."""
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
        """Queue a message that must be delivered, regardless of the limit."""
        self._waiting.append(message)
        self._size += len(message)
        self._news.set()

    def hold(self, topic: str) -> None:
        """Hold back a topic's messages until its beginning has been read."""
        self._held[topic] = []

    def release(self, topic: str, first: Iterable[str], *, cut: bool) -> None:
        """Queue the beginning of a topic and then its held messages. With `cut` the beginning is
        incomplete: the held messages are dropped, and the client asks again for all that follows
        what it has got."""
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
        """Return the next message, or None when there will be no more."""
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


class Ticker:
    """Decides when updates are sent: at once after a quiet period, else all together at the end of
    a window, which is longer when the daemon is busy."""

    def __init__(self) -> None:
        self._due: dict[Callable[[], None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._window = WINDOW
        self._open_until = float("-inf")
        self._many = False

    def due(self, run: Callable[[], None]) -> None:
        """Call `run` at the end of the window, or at once if none is open."""
        self._due[run] = None
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # Of many that talk at once, one that is early gains nothing and costs the others time.
            begin = loop.time() + self._window if self._many else max(loop.time(), self._open_until)
            self._timer = loop.call_at(begin, self._tick)

    def forget(self, run: Callable[[], None]) -> None:
        self._due.pop(run, None)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        began = self._timer.when() if self._timer is not None else loop.time()
        self._timer = None
        due, self._due = self._due, {}
        for run in due:
            run()
        now = loop.time()
        self._window = min(SLOWEST, max(WINDOW, SHARE * (now - began)))
        self._open_until, self._many = now + self._window, len(due) > FEW
