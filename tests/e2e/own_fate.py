"""Sessions of Rookery's own agent under blows: the agent that was forked from the warm process,
what it started, and the warm process itself. The SDK is real, the model is scripted."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from rookery.agent.scripted.server import serving
from rookery.client import warm_agent
from rookery.log.lock import is_held
from rookery.processes import tree
from tests.agent.conftest import SCRIPT, surroundings, write_settings
from tests.agent.driving import edit, run
from tests.agent.test_subagents import task
from tests.e2e.fate import HOSTS, TARGETS, Fate
from tests.e2e.ordeal import SLEEP
from tests.worker.aviary import Aviary, Bird, Steps

WARM = "rookery.agent.warm"
PATIENCE = 240.0
"""Seconds for a turn: one that starts cold loads the SDK, and others may do so at the same time."""

ON_WARM = 0.15
"""Of the blows of one session of the slice: those that fall on the warm process first."""
WHILE_LOADING = 0.4
LOADS = 6.0
"""Seconds that the SDK takes to load, about."""

OWN_TARGETS = [
    *(target for target in TARGETS if target not in ("sender", "watcher", "all")),
    *("client", "all", "fork", "fork", "fork", "fork's children", "fork, paused", "fork, frozen"),
]


def scenes(place: str) -> list[Steps]:
    """What the model says, in a session that works in `place`."""
    return [
        [{"text": "one two three four five six seven eight", "chunks": 8, "every": 0.05}],
        [run("echo hello; sleep 0.2; echo bye"), {"text": "Done."}],
        [run(f"sleep {SLEEP} & echo left"), {"text": "It runs on."}],
        [run(f"setsid -f sleep {SLEEP}; echo left"), {"text": "It runs on."}],
        [edit(Path(place, "note.txt"), "a note\n"), {"text": "Written."}],
        [task([run("echo below; sleep 0.1"), {"text": "did it"}]), {"text": "All done."}],
        [run("echo one"), {"thought": "hm", "text": "and"}, run("echo two"), {"text": "Over."}],
    ]


class Warmth:
    """The warm process of a home: there before the first prompt, killed now and then."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._coming = asyncio.Lock()

    def process(self, *, listens: bool = True) -> tree.Process | None:
        path = warm_agent.socket_path(self.home)
        with suppress(OSError, ValueError):
            if is_held(f"{path}.lock") and (os.path.exists(path) or not listens):
                return tree.process(int(Path(f"{path}.lock").read_text()))
        return None

    async def come(self) -> None:
        """Start one, as whoever starts a worker does, and wait until it listens."""
        async with self._coming, asyncio.timeout(PATIENCE):
            await self._start()
            # Nothing tells when it listens.
            while self.process() is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def _start(self) -> None:
        if self.process() is None:
            with suppress(FileNotFoundError):  # of one that was killed
                os.unlink(warm_agent.socket_path(self.home))
            await asyncio.to_thread(warm_agent.start, self.home, 0)

    async def die(self, random: Random) -> str:
        """Killed as it listens, or as it loads; which of them."""
        async with self._coming:
            name = "warm"
            if random.random() < WHILE_LOADING:
                name = "warm, loading"
                await self._kill()
                await self._start()
                # No event to wait for: any moment of some seconds' work.
                await asyncio.sleep(random.uniform(0, LOADS))
            await self._kill()
            return name

    async def _kill(self) -> None:
        process = self.process(listens=False)
        if process is not None:
            tree.kill([process])
            assert not await asyncio.to_thread(tree.wait_gone, [process], PATIENCE)


class OwnFate(Fate):
    def __init__(self, bird: Bird, random: Random, root: Path, warm: Warmth) -> None:
        place = os.path.realpath(bird.header().cwd)
        super().__init__(bird, random, root, scenes(place), OWN_TARGETS)
        self.patience = PATIENCE
        self.warm = warm
        self.place = place

    async def kill(self, target: str) -> None:
        await super().kill(
            self.random.choice(["sender", "watcher"]) if target == "client" else target
        )

    def victims(self, target: str) -> list[tree.Process]:
        match target:
            case "fork":
                return self.forks()
            case "fork's children":
                return [row for one in self.forks() for row in tree.descendants(one.pid)]
        return super().victims(target)

    def doomed(self, target: str) -> list[tree.Process]:
        found = super().doomed(target)
        if target in HOSTS or target in ("agent", "fork", "fork, frozen"):
            found += [row for one in self.forks() for row in (one, *tree.descendants(one.pid))]
        return found

    def forks(self) -> list[tree.Process]:
        """Agents of this session that were forked: known by where they work, and no other."""
        found = []
        for row in tree.table():
            place = Path("/proc", str(row.pid))
            with suppress(OSError):
                argv = (place / "cmdline").read_bytes().split(b"\0")
                if WARM.encode() in argv and os.readlink(place / "cwd") == self.place:
                    found.append(row)
        return found


class WarmFate(OwnFate):
    """Of its blows some fall on the warm process; an agent that starts then starts cold."""

    async def kill(self, target: str) -> None:
        if self.random.random() < ON_WARM:
            self.killed[await self.warm.die(self.random)] += 1
            target = self.random.choice(["agent", "fork", "worker", "watcher"])
        await super().kill(target)
        await self.warm.come()


@contextmanager
def own_aviary() -> Iterator[Aviary]:
    """On a short path; in the environment of this process, since clients start what they need in
    theirs."""
    root = Path(tempfile.mkdtemp(prefix="rkk-", dir="/tmp"))
    before = dict(os.environ)
    with serving(SCRIPT) as model:
        (root / "tmp").mkdir()
        os.environ |= {**surroundings(root / "home"), "TMPDIR": str(root / "tmp")}
        aviary = Aviary(root)
        try:
            (root / "home" / "person").mkdir()
            write_settings(root / "home", model)
            aviary.configure(stop_grace=0.5, worker_crash_most=1000)
            yield aviary
        finally:
            warm_agent.end(aviary.home)
            try:
                aviary.end()
            finally:
                os.environ.clear()
                os.environ |= before
                shutil.rmtree(root, ignore_errors=True)


def hatch(aviary: Aviary) -> Bird:
    """Each in a directory of its own."""
    place = aviary.work / str(len(aviary.birds))
    place.mkdir()
    return aviary.hatch(agent="rookery", argv=[], cwd=str(place))
