"""One session, its two clients, and the blows that befall them: kill -9, TERM and SIGSTOP of
anything that belongs to it, `stop` and `kill`, at any moment.

A blow counts when it hit something. What it must have ended is looked for afterwards.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from rookery.client import fleet
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.e2e.log_checks import check_order
from tests.e2e.watching import Client
from tests.worker.aviary import PATIENCE, Bird, Steps, blocks

type Json = dict[str, Any]

LONGEST = 0.5
"""Seconds from a prompt, or from its admission, to the blow, at most: about what a turn takes."""

IN_THE_TURN = 0.7
"""Of all blows: those that wait for the admission. The others may hit a worker in its start."""

HOSTS = ("worker", "warden", "both", "all", "stop", "kill", "worker, frozen")
"""What ends the whole session."""

TARGETS = [
    *("worker", "warden", "both", "agent", "agent's children", "sender", "watcher", "all"),
    *("stop", "kill", "worker, frozen", "worker, paused", "warden, paused", "agent, paused"),
]


def send(processes: Iterable[tree.Process], number: int) -> None:
    """A signal to those that are still there."""
    for process in tree.still_alive(processes):
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def command_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


class Fate:
    def __init__(
        self, bird: Bird, random: Random, root: Path, scenes: list[Steps], targets: list[str]
    ) -> None:
        self.bird = bird
        self.random = random
        self.scenes = scenes
        self.targets = targets
        self.patience = PATIENCE
        self.sender = Client(bird, root / f"{bird.id}.sender")
        self.watcher = Client(bird, root / f"{bird.id}.watcher")
        self.sent: list[str] = []
        self.meddled = 0
        self.killed: Counter[str] = Counter()
        self.owed: dict[tree.Process, str] = {}
        """What must be gone when the next worker has started, and the blow that it is owed to."""
        self.last = 0

    async def suffer(self, kills: int) -> None:
        while self.killed.total() < kills:
            await self.watcher.pipe()
            commands = [self.command() for _ in range(self.random.choice([1, 1, 1, 2]))]
            commands += [self.meddle() for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
            target = self.random.choice(self.targets)
            delay = self.random.uniform(0, LONGEST)
            for command in commands:
                await self.sender.send(command)
            if self.random.random() < IN_THE_TURN:
                await self.bird.until(lambda event: event.cause == self.sent[-1])
            # No event to wait for: a blow at any moment is what is tried here.
            await asyncio.sleep(delay)
            await self.kill(target)
            await self.settle(commands)
            check_order(self.bird.events())
        await self.recover()

    def command(self) -> Json:
        self.sent.append(f"{self.bird.id}-{len(self.sent)}")
        play = self.random.choice(self.scenes)
        return {"id": self.sent[-1], "do": "prompt", "prompt": blocks(play)}

    def meddle(self) -> Json:
        """With what may wait, or with the turn. It may be too late for it, which is an outcome as
        well."""
        self.meddled += 1
        id = f"{self.bird.id}+{self.meddled}"
        op = self.random.choice(["move", "edit", "send", "cancel"])
        if op == "cancel":
            return {"id": id, "do": "cancel"}
        change: Json = {"id": id, "do": "queue", "op": op, "item": self.sent[-1]}
        return {**change, "to": 0, "prompt": blocks("changed my mind")}

    # --- blows -----------------------------------------------------------------------------------

    async def kill(self, target: str) -> None:
        if target in ("sender", "all"):
            await self.sender.kill()
        if target in ("watcher", "all"):
            await self.watcher.kill()
        doomed = self.doomed(target)
        if await self.strike(target) or target in ("sender", "watcher"):
            self.killed[target] += 1
            self.owed |= dict.fromkeys(doomed, target)

    async def strike(self, target: str) -> bool:
        """Whether it hit anything but clients."""
        if target == "stop":
            await self.bird.send("stop")
            return True
        if target == "kill":
            # A client that sends its prompt again meanwhile may wake what is being ended.
            with suppress(LogError, fleet.StillAlive):
                await asyncio.to_thread(fleet.kill, self.bird.home, self.bird.id)
            return True
        who, _, how = target.partition(", ")
        victims = tree.still_alive(self.victims(who))
        if how:
            send(victims, signal.SIGSTOP)
            await asyncio.sleep(self.random.uniform(0, LONGEST))
        if how == "paused":
            send(victims, signal.SIGCONT)
        else:
            tree.kill(victims)
        return bool(victims)

    def victims(self, target: str) -> list[tree.Process]:
        try:
            bird = self.bird
            hosts = {"worker": [bird.worker], "warden": [bird.warden]}
            hosts["both"] = hosts["all"] = [bird.warden, bird.worker]
            if target in hosts:
                return hosts[target]
            agent = bird.agent
        except (FileNotFoundError, KeyError):  # nothing has been started yet
            return []
        if not agent.pid:
            return []
        return [agent] if target == "agent" else tree.descendants(agent.pid)

    def doomed(self, target: str) -> list[tree.Process]:
        """Who has to go with the victims, as far as they can be seen now."""
        if target in HOSTS:
            return self.family()
        if target == "agent":
            return [row for one in self.victims(target) for row in tree.descendants(one.pid)]
        return []

    def family(self) -> list[tree.Process]:
        """The warden, and all below it; where that is dead, the worker and all below it."""
        with suppress(FileNotFoundError, KeyError):
            top = tree.still_alive([self.bird.warden, self.bird.worker])
            return [*top, *(row for one in top for row in tree.descendants(one.pid))]
        return []

    # --- afterwards ------------------------------------------------------------------------------

    async def settle(self, commands: list[Json]) -> None:
        """Until each command is in the log and no turn is open; a client that was killed is
        replaced, and says again what is not in the log (law 5)."""
        await self.watcher.pipe()
        await self.sender.pipe()
        async with asyncio.timeout(self.patience), self.bird.client() as client:
            missing = [command for command in commands if not client.log.find(command["id"])]
            for command in missing:
                await self.sender.send(command)
            following = client.follow(client.log.last_seq())
            while not self.settled(client.log, commands):
                await anext(following)
            await following.aclose()  # type: ignore[attr-defined]

    def settled(self, log: Reader, commands: list[Json]) -> bool:
        admitted = all(log.find(command["id"]) for command in commands)
        header = log.header_before(log.turns() + 1)
        return admitted and header.state == "idle" and not header.asks

    async def recover(self) -> None:
        """Without blows: what waits in the queue is played, and the clients see it to its end."""
        while True:
            self.sent.append(f"{self.bird.id}-{len(self.sent)}")
            last = {"id": self.sent[-1], "do": "prompt", "prompt": blocks("anything left?")}
            await self.sender.send(last)
            await self.settle([last])
            header = self.bird.header()
            if not header.queue and header.reason == "end_turn":
                break
        left = await asyncio.to_thread(tree.wait_gone, self.owed, PATIENCE)
        assert not left, [(self.owed[one], one, command_of(one.pid)) for one in left]
        self.last = self.bird.events()[-1].seq
        await asyncio.gather(self.sender.see(self.last), self.watcher.see(self.last))
