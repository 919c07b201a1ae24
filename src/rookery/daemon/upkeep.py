"""Background work for all sessions: ending what dead workers left behind, waking sleeping sessions
in time, putting workers of older builds to sleep, notifying the user, keeping our own agent warm,
emptying the trash, and updating the search index.

None of it is essential: clients do the same when they look."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from rookery.agents import registry
from rookery.client import leftovers, waking, warm_agent
from rookery.client.config import in_force
from rookery.client.start import connectable
from rookery.client.trash import emptying
from rookery.client.update import workers
from rookery.core.json import Json
from rookery.daemon.fleet import Fleet
from rookery.daemon.notify.notifier import Notifier
from rookery.daemon.trouble import Trouble
from rookery.home import config
from rookery.models.choice import default_agent
from rookery.search.update import update

EACH = 2.0
"""Seconds between two rounds."""
WAKING = 20.0
"""Seconds between two looks at sessions that did not change: what they wait for may have come."""
WARMTH = 60.0
"""Seconds between two looks for a warm agent."""
MEMORY = 1500 * 1024 * 1024
"""Bytes that must be free for a warm agent: it takes 350 MB, and the sessions come after it."""
TRASH = 60.0
"""Seconds between two looks at what is due in the trash."""
SLICE = 1.0
"""Seconds of indexing in one go: between two, others have the machine."""


class Upkeep:
    def __init__(self, home: str, fleet: Fleet, notifier: Notifier, *, read_only: bool) -> None:
        """Prepare the upkeep. With `read_only` it starts no process, and neither wakes sessions,
        puts them to sleep nor deletes them."""
        self._home = home
        self._read_only = read_only
        self._fleet = fleet
        self._notifier = notifier
        self._seen: dict[str, Json] = {}
        self._heads: list[Json] = []
        self._woken = 0.0
        self._warmed = 0.0
        self._indexed = -1
        self._emptied = 0.0
        self._stopping = threading.Event()
        self._troubles: dict[str, Trouble] = {}

    async def run(self) -> None:
        """Run a round every few seconds, for ever."""
        try:
            while True:
                await asyncio.sleep(EACH)
                await asyncio.to_thread(self.round)
        finally:
            self._stopping.set()
            self._notifier.stop()

    def round(self) -> None:
        heads, now = self._fleet.heads, time.monotonic()
        if heads is not self._heads or now - self._woken >= WAKING:
            self._heads, self._woken = heads, now
            self._try("leftovers", self._end_what_is_left, heads)
            if not self._read_only:
                self._try("waking", waking.look_after, self._home, heads)
                self._try("older workers", self._replace_older, heads)
        self._try("notifications", self._notifier.round, heads)
        if not self._read_only:
            self._try("warm agent", self._keep_warm)
            self._try("trash", self._empty_trash)
        self._try("search index", self._index)

    def _try[*Given](self, name: str, step: Callable[[*Given], object], *given: *Given) -> None:
        """Run a step; an error in it does not prevent the others."""
        with self._troubles.setdefault(name, Trouble(f"upkeep, {name}")).survived():
            step(*given)

    def _end_what_is_left(self, heads: list[Json]) -> None:
        """End leftovers of sessions that changed; checking every process is expensive."""
        changed = [head for head in heads if self._seen.get(head["id"]) is not head]
        if changed:
            leftovers.end_leftovers(self._home, changed)
        self._seen = {head["id"]: head for head in heads}

    def _replace_older(self, heads: list[Json]) -> None:
        awake = [head for head in heads if head["awake"] and head["state"] == "idle"]
        workers.put_to_sleep(
            self._home, [head["id"] for head in awake if workers.is_older(head["worker"])]
        )

    def _keep_warm(self) -> None:
        now = time.monotonic()
        if now - self._warmed < WARMTH and self._warmed:
            return
        self._warmed = now
        with suppress(config.ConfigError):
            chosen = in_force.load(self._home).default_agent
            own = default_agent(self._home, chosen, os.environ) == registry.OWN
            if own and free_memory() > MEMORY:
                warm_agent.ahead(self._home, connectable)

    def _empty_trash(self) -> None:
        now = time.monotonic()
        if now - self._emptied >= TRASH or not self._emptied:
            self._emptied = now
            if emptying.is_due(self._home):
                emptying.start(self._home)

    def _index(self) -> None:
        if self._fleet.seq == self._indexed:
            return
        seq = self._fleet.seq
        came = update(self._home, stop=self._stopping.is_set, seconds=SLICE)
        if came.done:
            self._indexed = seq


def free_memory() -> int:
    """Return how many bytes can be used without swapping; if the system does not say, enough for a
    warm agent."""
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 2 * MEMORY
