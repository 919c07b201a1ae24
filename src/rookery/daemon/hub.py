"""The hub of subscriptions: which client watches which topics."""

import asyncio
import os
import time
from contextlib import AsyncExitStack

from rookery.core.json.secrets import encoded
from rookery.daemon.fleet import FLEET, Fleet
from rookery.daemon.followed import OPS, Followed, PageOf
from rookery.daemon.metrics.measures import LAGS, LOOK_SECONDS, LOOP_DELAY
from rookery.daemon.trouble import Trouble
from rookery.daemon.watcher import Ticker, Watcher

LOOKS, WATCHED_LOOKS = 2.0, 0.5
"""Seconds between two looks at the sessions: alone, and while somebody watches their list."""
TOPICS = 200
"""That one client may watch."""


class Hub:
    def __init__(self, home: str, fleet: Fleet, page: PageOf) -> None:
        self._home = home
        self._fleet = fleet
        self._page = page
        self._ticker = Ticker()
        self._followed: dict[str, Followed] = {}
        self._listed: dict[Watcher, None] = {}
        self._watchers: dict[Watcher, None] = {}
        self._wanted = asyncio.Event()
        self.looked = time.monotonic()
        """When it last looked at the sessions, and nothing failed."""

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    @property
    def followed(self) -> int:
        return len(self._followed)

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
        """Subscribe a watcher to a topic, replacing an earlier subscription. Raises LogError,
        PathError."""
        await self.unsubscribe(watcher, name)
        if name == FLEET:
            watcher.topics.add(name)
            self._listed[watcher] = None
            self._tell_fleet(watcher, epoch, after)
            self._wanted.set()
            return
        followed = self._followed.get(name)
        if followed is None:
            followed = Followed(self._home, name, self._ticker, self._page, self._forget)
            followed.begin()
            self._followed[name] = followed
        watcher.topics.add(name)
        watcher.hold(name)
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.unsubscribe, watcher, name)
            first, cut = await followed.join(watcher, form, after)
            undo.pop_all()
        if cut:
            followed.leave(watcher)
        watcher.release(name, first, cut=cut)

    async def unsubscribe(self, watcher: Watcher, name: str) -> None:
        watcher.drop(name)
        if name == FLEET:
            self._listed.pop(watcher, None)
            return
        followed = self._followed.get(name)
        if followed is not None:
            followed.leave(watcher)
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
        """Look at the sessions periodically, for ever."""
        trouble = Trouble("looking at the sessions")
        while True:
            with trouble.survived():
                await self.look()
            self._wanted.clear()
            due = time.monotonic() + (WATCHED_LOOKS if self._listed else LOOKS)
            try:
                async with asyncio.timeout(due - time.monotonic()):
                    await self._wanted.wait()
            except TimeoutError:
                LOOP_DELAY.observe(time.monotonic() - due)

    async def look(self) -> None:
        """Look at the sessions now, and send the changes to those who watch the list."""
        began = time.monotonic()
        news = await asyncio.to_thread(self._fleet.look)
        self.looked = time.monotonic()
        LOOK_SECONDS.observe(self.looked - began)
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
                LAGS.add()

    async def close(self) -> None:
        for watcher in list(self._watchers):
            watcher.close()
        for followed in list(self._followed.values()):
            await followed.close()
        self._followed.clear()
