"""Nothing is lost: kill -9 of anything at any time, again and again, and the log still holds.

A seed makes the run repeatable as to who is killed in which turn and after how long; where exactly
the blow falls is up to the machine. `KILLS_SEED=7 make test-all ARGS=tests/e2e/test_kills.py`
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rookery.core.document import Document, join
from rookery.core.events import Event, event_from_json, kind_of
from rookery.core.kept_asks import ORIGIN
from rookery.core.reduce import fold
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.worker.aviary import PATIENCE, Aviary, Bird, Steps, blocks, is_idle

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SEED = int(os.environ.get("KILLS_SEED", "20"))
SESSIONS = 4
LONGEST = 0.5
"""Seconds from a prompt, or from its admission, to the blow, at most: about what a turn takes."""

IN_THE_TURN = 0.7
"""Of all blows: those that wait for the admission. The others may hit a worker in its start."""

TARGETS = ["worker", "warden", "both", "agent", "agent's children", "sender", "watcher", "all"]
WATCHER = Path(__file__).with_name("watcher.py")

LONG = "0123456789" * 2_000
"""What a file has whole, or not at all."""

SCENES: list[Steps] = [
    [{"text": "one two three four five six seven eight nine ten", "chunks": 10, "every": 0.04}],
    [{"flood": 400, "size": 30, "every": 0.001}, {"tool": "Look", "status": "completed"}],
    [{"spawn": ["sleep", "86400"], "detach": True}, {"thought": "left $pid"}, {"wait": 0.3}],
    [{"wait": 0.1}, {"ask": "May I?", "allowed": [{"wait": 0.2}, {"text": "thank you"}]}],
    [{"plan": ["a", "b"], "done": 1}, {"wait": 0.3}, {"late": [{"text": "by the way"}]}],
    [{"spawn": ["sleep", "86400"]}, {"wait": 0.2}, {"error": "of the agent's own"}],
    [{"tool": {"toolCallId": "t", "title": "Dig"}}, {"wait": 0.3}, {"stop": "max_tokens"}],
    [{"repeat": 20, "steps": [{"write": "notes/$session-$turn", "content": LONG}]}],
    [{"command": "for n in 1 2 3 4 5; do echo $n; sleep 0.05; done; sleep 86400 & echo bye"}],
    [{"command": "rm -rf no-such-folder; sleep 0.2; echo gone", "ask": True}, {"text": "$output"}],
    [{"question": "Which?", "accepted": [{"wait": 0.1}, {"text": "that one"}]}, {"read": "none"}],
]


class Client:
    """A watcher process that is started again whenever it was killed."""

    def __init__(self, bird: Bird, path: Path) -> None:
        self.path = path
        self._argv = [sys.executable, str(WATCHER), bird.home, bird.id, str(path)]
        self._process: asyncio.subprocess.Process | None = None

    async def pipe(self) -> asyncio.StreamWriter:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(*self._argv, stdin=subprocess.PIPE)
        assert self._process.stdin is not None
        return self._process.stdin

    async def send(self, command: dict[str, Any]) -> None:
        (await self.pipe()).write(json.dumps(command).encode() + b"\n")

    async def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def see(self, upto: int) -> None:
        """Let it see the end of the log; then it ends."""
        await self.send({"upto": upto})
        assert self._process is not None
        async with asyncio.timeout(PATIENCE):
            assert await self._process.wait() == 0

    def shown(self) -> list[Event]:
        lines = self.path.read_bytes().split(b"\n")[:-1]
        return [event_from_json(json.loads(line)) for line in lines]


class Fate:
    """One session, its two clients, and what befalls them."""

    def __init__(self, bird: Bird, random: Random, root: Path) -> None:
        self.bird = bird
        self.random = random
        self.sender = Client(bird, root / f"{bird.id}.sender")
        self.watcher = Client(bird, root / f"{bird.id}.watcher")
        self.sent: list[str] = []
        self.meddled = 0
        self.killed: Counter[str] = Counter()
        self.last = 0

    async def suffer(self, kills: int) -> None:
        for _ in range(kills):
            await self.watcher.pipe()
            commands = [self.command() for _ in range(self.random.choice([1, 1, 1, 2]))]
            commands += [self.meddle() for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
            target = self.random.choice(TARGETS)
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

    def command(self) -> dict[str, Any]:
        self.sent.append(f"{self.bird.id}-{len(self.sent)}")
        play = self.random.choice(SCENES)
        return {"id": self.sent[-1], "do": "prompt", "prompt": blocks(play)}

    def meddle(self) -> dict[str, Any]:
        """With what may wait. It may be too late for it, which is an outcome as well."""
        self.meddled += 1
        op = self.random.choice(["move", "edit", "send"])
        change: dict[str, Any] = {"id": f"{self.bird.id}+{self.meddled}", "do": "queue", "op": op}
        return {**change, "item": self.sent[-1], "to": 0, "prompt": blocks("changed my mind")}

    async def kill(self, target: str) -> None:
        self.killed[target] += 1
        if target in ("sender", "all"):
            await self.sender.kill()
        if target in ("watcher", "all"):
            await self.watcher.kill()
        if target not in ("sender", "watcher"):
            tree.kill(self.victims(target))

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

    async def settle(self, commands: list[dict[str, Any]]) -> None:
        """Until each command is in the log and no turn is open; a client that was killed is
        replaced, and says again what is not in the log (law 5)."""
        await self.watcher.pipe()
        await self.sender.pipe()
        async with asyncio.timeout(PATIENCE), self.bird.client() as client:
            missing = [command for command in commands if not client.log.find(command["id"])]
            for command in missing:
                await self.sender.send(command)
            following = client.follow(client.log.last_seq())
            while not self.settled(client.log, commands):
                await anext(following)
            await following.aclose()  # type: ignore[attr-defined]

    def settled(self, log: Reader, commands: list[dict[str, Any]]) -> bool:
        admitted = all(log.find(command["id"]) for command in commands)
        header = log.header_before(log.turns() + 1)
        return admitted and header["state"] == "idle" and not header["asks"]

    async def recover(self) -> None:
        """Without blows: what waits in the queue is played, and the clients see it to its end."""
        while self.bird.header()["queue"] or self.bird.header()["reason"] != "end_turn":
            self.sent.append(f"{self.bird.id}-{len(self.sent)}")
            last = {"id": self.sent[-1], "do": "prompt", "prompt": blocks("anything left?")}
            await self.sender.send(last)
            await self.settle([last])
        self.last = self.bird.events()[-1].seq
        await asyncio.gather(self.sender.see(self.last), self.watcher.see(self.last))


def check_order(events: list[Event]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(one.at <= two.at for one, two in pairwise(events))


def check_prompts(events: list[Event], sent: list[str]) -> None:
    """Each admitted exactly once, played in exactly one turn; each turn ended exactly once."""
    causes = Counter(event.cause for event in events if event.cause)
    assert {id: causes[id] for id in sent} == dict.fromkeys(sent, 1)
    played: Counter[str] = Counter()
    turns = []
    for event in events:
        if kind_of(event.update) == "_prompt":
            turns.append(event.update["turn"])
            if event.update.get("origin") != ORIGIN:  # else it brings back what was asked (P9)
                played.update(event.update.get("queued") or [event.cause])
    assert played == Counter(sent)
    assert turns == list(range(1, len(turns) + 1))
    ends = [event.update for event in events if is_idle(event)]
    assert [end["turn"] for end in ends] == turns
    assert all(end["reason"] for end in ends)


def check_asks(events: list[Event]) -> None:
    """Each is closed exactly once, however often it was asked again."""
    states: dict[str, list[str]] = {}
    for event in events:
        if kind_of(event.update) == "_ask":
            states.setdefault(event.update["id"], []).append(event.update["state"])
    for found in states.values():
        assert (found[0], found[-1], found.count("closed")) == ("asked", "closed", 1)


def check_terminals(events: list[Event]) -> None:
    """Each begins once and ends at most once; one that a kill took away has no end."""
    states: dict[str, list[str]] = {}
    for event in events:
        if kind_of(event.update) == "_terminal" and event.update["state"] != "output":
            states.setdefault(event.update["id"], []).append(event.update["state"])
    assert all(found in (["started"], ["started", "ended"]) for found in states.values())


def check_files(work: Path) -> None:
    """Whole, whoever was killed while it was written."""
    for path in work.glob("notes/*"):
        assert path.name.startswith(".") or path.read_text() == LONG


def check_document(bird: Bird, events: list[Event]) -> None:
    """The same in one go and page by page."""
    whole = fold(None, events)
    paged = Document()
    with Reader.open(str(bird.directory)) as log:
        for n in range(log.turns() + 1):
            paged = join(paged, fold(log.header_before(n), log.page(n)))
    assert paged.header == whole.header
    assert list(paged.blocks.items()) == list(whole.blocks.items())
    assert whole.header["state"] == "idle"
    assert not whole.header["asks"]


async def fall_asleep(aviary: Aviary) -> None:
    """Stop what is awake: then nothing is left (W4). Again, where a client was killed while it
    started a worker: that one may come awake when the one before it is stopped."""
    async with asyncio.timeout(2 * PATIENCE):
        while left := aviary.processes():
            for bird in aviary.birds:
                await bird.send("stop")
            await asyncio.to_thread(tree.wait_gone, left, PATIENCE / 10)


async def kill_again_and_again(aviary: Aviary, kills: int) -> None:
    print(f"\nseed {SEED}")
    began = time.monotonic()
    random = Random(SEED)
    aviary.configure(stop_grace=0.5)
    birds = [aviary.hatch() for _ in range(SESSIONS)]
    fates = [Fate(bird, Random(random.random()), aviary.root) for bird in birds]
    try:
        async with asyncio.TaskGroup() as group:
            for number, fate in enumerate(fates):
                share = kills // SESSIONS + (number < kills % SESSIONS)
                group.create_task(fate.suffer(share))
    finally:
        for fate in fates:
            await fate.sender.kill()
            await fate.watcher.kill()
    for fate in fates:
        events = fate.bird.events()
        check_order(events)
        check_prompts(events, fate.sent)
        check_asks(events)
        check_terminals(events)
        check_document(fate.bird, events)
        for shown in (fate.sender.shown(), fate.watcher.shown()):
            assert shown == events[: len(shown)]
            assert len(shown) >= fate.last
    check_files(aviary.work)
    await fall_asleep(aviary)
    print(summary(fates, time.monotonic() - began))


def summary(fates: list[Fate], seconds: float) -> str:
    killed: Counter[str] = sum((fate.killed for fate in fates), Counter())
    ends = Counter(
        event.update["reason"] for fate in fates for event in fate.bird.events() if is_idle(event)
    )
    kept = Counter(kind_of(event.update) for fate in fates for event in fate.bird.events())
    count = sum(len(fate.bird.events()) for fate in fates)
    return (
        f"{killed.total()} kills {dict(killed)} in {seconds:.0f} s, {len(fates)} sessions, "
        f"{ends.total()} turns {dict(ends)}, {count} events ({kept['_ask']} of asks, "
        f"{kept['_queue']} changes of queues, {kept['_terminal']} of terminals): none lost, none "
        f"twice, nobody left"
    )


async def test_a_dozen_kills_lose_nothing(aviary: Aviary) -> None:
    """W4, W8, T1, laws 1-5"""
    await kill_again_and_again(aviary, 12)


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_two_hundred_kills_lose_nothing(aviary: Aviary) -> None:
    """W4, W8, T1, laws 1-5"""
    await kill_again_and_again(aviary, 200)
