"""One client's end of the stream: what is to be sent to it, in order, and when."""

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
    """A client that does not take what it is sent is not waited for: over a bound it is told that
    it lags, hears no more of that topic, and asks again from the event that it has."""

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


class Ticker:
    """When what happened is sent: at once after a while of quiet, else all that is due at the end
    of a window, which is longer where the daemon is busy."""

    def __init__(self) -> None:
        self._due: dict[Callable[[], None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._window = WINDOW
        self._open_until = float("-inf")
        self._many = False

    def due(self, run: Callable[[], None]) -> None:
        """Call it at the end of the window; at once where none is open."""
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
