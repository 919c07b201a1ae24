"""Whoever is killed while something is asked, the ask stands afterwards, and is answered exactly
once.

A seed makes the run repeatable as to who is killed and when, and what is said in between.
`KILLS_SEED=7 make test-all ARGS=tests/e2e/test_ask_kills.py`
"""

import asyncio
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.session import Rejected
from rookery.core.asks import kept_asks
from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.processes import tree
from tests.e2e.log_checks import check_document, check_order
from tests.worker.aviary import PATIENCE, Aviary, Bird, Steps, blocks, is_ask, is_idle

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

type Json = dict[str, Any]

SEED = int(os.environ.get("KILLS_SEED", "20"))
SESSIONS = 4
KILLS = ["worker", "agent", "both", "warden and worker", "stop", "reboot", "defer"]
SLICE = 74
"""Four of these, and the small ones below, are 300."""

FORM: Json = {"type": "object", "properties": {"name": {"type": "string"}}}


def permission(command: str) -> Json:
    asked = {"ask": command, "kind": "execute", "rawInput": {"command": command}}
    return {**asked, "allowed": [{"text": f"<{command}>"}], "rejected": [{"text": "no"}]}


SCENES: list[Steps] = [
    [permission("make test")],
    [{"text": "Let me see."}, {"wait": 0.05}, permission("make install")],
    [{"question": "Who?", "schema": FORM, "accepted": [{"text": "<$answer>"}]}],
    [{"ask": "May I?", "allowed": [{"text": "<May I?>"}]}],
    [{"command": "echo hello; sleep 86400 & echo bye", "ask": True}, {"text": "<$output>"}],
    [{"write": "notes", "content": "new", "ask": True}, {"text": "<notes>"}],
    [{"tool": {"toolCallId": "t", "title": "Dig"}, "status": "completed"}, permission("make dig")],
    [{"write": "dug", "content": "deep"}, permission("make fill")],
    [{"command": "true"}, {"ask": "And now?", "allowed": [{"text": "<And now?>"}]}],
    [{"diff": "seen", "new": "x", "ask": True, "really": True}, permission("make two")],
]


class Fate:
    """One session with something asked, and what befalls it."""

    def __init__(self, bird: Bird, random: Random, aviary: Aviary) -> None:
        self.bird = bird
        self.random = random
        self.aviary = aviary
        self.killed: Counter[str] = Counter()
        self.asked: list[str] = []
        self.struck: set[str] = set()
        """Asks behind whose answer a blow fell at once."""
        self.kept = self.live = self.decided = 0

    async def suffer(self, kills: int) -> None:
        while self.killed.total() < kills:
            await self.play(self.random.choice(SCENES), kills - self.killed.total())
        await self.settle()

    async def play(self, scene: Steps, most: int) -> None:
        """One prompt; each ask of it is met by up to three blows before it is answered."""
        begun = await self.bird.prompt(scene)
        while (ask := await self.next_ask(begun)) is not None:
            self.asked.append(ask)
            for _ in range(self.random.choice([1, 1, 1, 2, 3])):
                if most > 0 and await self.blow(ask):
                    most -= 1
            await self.answer(ask)

    async def next_ask(self, begun: Event) -> str | None:
        """The next one that nobody has answered; None: the session is at rest without one."""

        def over() -> bool:
            header = self.bird.header()
            return header.state == "idle" and not header.asks and not header.queue

        def asking(event: Event) -> bool:
            fresh = is_ask(event) and event.update["id"] not in self.asked
            return fresh or (is_idle(event) and over())

        found = await self.bird.until(asking, begun.seq)
        return str(found.update["id"]) if is_ask(found) else None

    # --- blows -----------------------------------------------------------------------------------

    async def blow(self, ask: str) -> bool:
        """Whether it fell while the ask stood; then it stands after it."""
        how = self.random.choice(KILLS)
        if self.random.random() < 0.3:
            await self.stir(ask)
        # No event to wait for: a blow at any moment is what is tried here.
        await asyncio.sleep(self.random.choice([0, 0, 0.05, 0.2]))
        if ask not in self.bird.header().asks:
            return False
        self.killed[how] += 1
        await self.kill(how, ask)
        fleet.head_of_session(self.bird.home, self.bird.id)  # a post-mortem, where one is due
        header = self.bird.header()
        assert ask in header.asks, f"{ask} is gone after {how}"
        assert outcomes(self.bird.events(), ask) == []
        head = fleet.head_of_session(self.bird.home, self.bird.id)
        assert head is not None
        assert head["asks"] == 1
        return True

    async def stir(self, ask: str) -> None:
        """Something that wakes it, or would like to."""
        match self.random.choice(["start", "start", "restart", "rename"]):
            case "rename":
                await self.bird.send("rename", title=ask)
            case do:
                with suppress(Rejected):
                    await self.bird.send(do)

    async def kill(self, how: str, ask: str) -> None:
        match how:
            case "stop":
                await self.bird.send("stop")
            case "defer":
                nonce = self.bird.header().asks[ask]["nonce"]
                await self.bird.send("answer", ask=ask, nonce=nonce, defer=True)
            case "reboot":
                await self.reboot()
            case _:
                victims = self.victims(how)
                tree.kill(victims)
                await self.bird.gone(*victims)

    def victims(self, how: str) -> list[tree.Process]:
        bird = self.bird
        agent = [bird.agent] if bird.record["agentPid"] else []
        return {
            "worker": [bird.worker],
            "agent": agent,
            "both": [bird.worker, *agent],
            "warden and worker": [bird.warden, bird.worker],
        }[how]

    async def reboot(self) -> None:
        """All of it at once; no socket is left, and the processes of worker.json are of another
        boot."""
        bird = self.bird
        with suppress(FileNotFoundError):
            record = bird.record
            victims = [bird.warden, bird.worker, *tree.descendants(record["warden"])]
            victims += tree.descendants(record["pid"])
            tree.kill(victims)
            await bird.gone(*victims)
            with suppress(FileNotFoundError):
                Path(bird.socket).unlink()
            path = bird.directory / paths.WORKER
            boot = record["start"].partition("@")[2]
            path.write_text(path.read_text().replace(f"@{boot}", "@deadbeef"))

    # --- answers ---------------------------------------------------------------------------------

    async def answer(self, ask: str) -> None:
        """At any moment, until it is answered; the same id each time (law 5)."""
        since = self.bird.events()[-1].seq
        if self.random.random() < 0.5:
            with suppress(Rejected):
                await self.bird.send("start")
        try:
            async with asyncio.timeout(PATIENCE):
                while not outcomes(self.bird.events(), ask):
                    since = await self.press(ask, since)
        except TimeoutError:
            self.tell()
            raise

    async def press(self, ask: str, since: int) -> int:
        """One step towards its outcome, and that of what is asked before it; up to where the log
        was seen."""
        for name, known in self.bird.header().asks.items():
            await self.say(name, known)

        def moved(event: Event) -> bool:
            return kind_of(event.update) == "_ask" or is_idle(event)

        if outcomes(self.bird.events(), ask):
            return since
        return (await self.bird.until(moved, since)).seq

    async def say(self, ask: str, known: Json) -> None:
        command: Json = {"ask": ask, "nonce": known["nonce"]}
        if known.get("decide"):
            self.decided += 1
            await self.bird.send("answer", **command, option=kept_asks.AGAIN)
        elif known.get("given") or known.get("sent"):
            with suppress(Rejected):
                await self.bird.send("start")
        else:
            self.kept += bool(known.get("away"))
            self.live += not known.get("away")
            said: Json = {"option": "allow", "confirm": True}
            if known["kind"] == "question":
                said = {"action": "accept", "content": {"name": "crow"}}
            with suppress(Rejected):
                await self.bird.send("answer", **command, **said, id=f"{ask}-answer")
            if ask not in self.asked:
                self.asked.append(ask)
            if self.random.random() < 0.15:
                self.struck.add(ask)
                tree.kill(self.victims("agent"))

    def tell(self) -> None:
        """What happened last, for whoever reads about a failure."""
        for event in self.bird.events()[-40:]:
            print(event.seq, event.by, str(event.update)[:200])

    async def settle(self) -> None:
        """At rest, and what is left in the queue is played."""
        async with asyncio.timeout(PATIENCE):
            while (header := self.bird.header()).state != "idle" or header.asks:
                for ask in list(header.asks):
                    self.asked.append(ask)
                    await self.answer(ask)
                last = self.bird.events()[-1].seq
                if self.bird.header().state != "idle":
                    await self.bird.until(is_idle, last - 1)


def outcomes(events: list[Event], ask: str) -> list[Json]:
    found = [event.update for event in events if kind_of(event.update) == "_ask"]
    return [each for each in found if each["id"] == ask and each["state"] == "closed"]


def check_asks(events: list[Event], asked: list[str]) -> None:
    """Each is answered exactly once, as it was said, and by whom it was."""
    known = {event.update["id"] for event in events if is_ask(event)}
    assert known == set(asked)
    for ask in known:
        [outcome] = outcomes(events, ask)
        told = outcome["outcome"]
        assert told.get("optionId") == "allow" or told.get("action") == "accept", outcome
    said = Counter(event.cause for event in events if event.cause)
    assert all(count == 1 for count in said.values())


def check_heard(events: list[Event], struck: set[str]) -> None:
    """The agent heard each answer: the turn in which it was given went on to its end, but where
    another blow fell."""
    answered: list[str] = []
    for event in events:
        update = event.update
        if kind_of(update) == "_ask" and update["state"] == "closed":
            answered.append(update["id"])
        elif kind_of(update) == "_ask":
            answered.clear()  # it asks on: so it heard
        elif is_idle(event):
            assert update["reason"] == "end_turn" or struck.issuperset(answered), answered
            answered.clear()


def check_prompts(events: list[Event]) -> None:
    """A prompt is sent again for an ask alone, and never in silence after steps had run."""
    ran = False
    for event in events:
        update = event.update
        if kind_of(update) == "_prompt" and update.get("origin") == kept_asks.ORIGIN:
            assert update["how"] == "forced" or not ran, update
        if kind_of(update) == "_prompt":
            ran = False
        steps = kind_of(update) == "_terminal" or update.get("ran") is True
        ran = ran or steps or update.get("title") == "Dig"


async def kill_while_asked(aviary: Aviary, kills: int, seed: int) -> None:
    print(f"\nseed {seed}")
    began = time.monotonic()
    random = Random(seed)
    aviary.configure(stop_grace=0.5, crash_most=1000, worker_crash_most=1000)
    birds = [aviary.hatch() for _ in range(SESSIONS)]
    fates = [Fate(bird, Random(random.random()), aviary) for bird in birds]
    async with asyncio.TaskGroup() as group:
        for number, fate in enumerate(fates):
            share = kills // SESSIONS + (number < kills % SESSIONS)
            group.create_task(fate.suffer(share))
    for fate in fates:
        events = fate.bird.events()
        check_order(events)
        check_asks(events, fate.asked)
        check_heard(events, fate.struck)
        check_prompts(events)
        check_document(fate.bird, events)
    killed: Counter[str] = sum((fate.killed for fate in fates), Counter())
    assert killed.total() == kills
    print(
        f"{kills} kills {dict(killed)} in {time.monotonic() - began:.0f} s: "
        f"{sum(len(fate.asked) for fate in fates)} asks, "
        f"{sum(fate.kept for fate in fates)} answers kept, "
        f"{sum(fate.live for fate in fates)} given at once, "
        f"{sum(fate.decided for fate in fates)} sent again by a person: none lost, none twice"
    )


@pytest.mark.long
async def test_each_open_ask_is_still_open_after_a_kill(aviary: Aviary) -> None:
    await kill_while_asked(aviary, 20, SEED)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("slice_", range(4))
async def test_three_hundred_kills_lose_no_ask(aviary: Aviary, slice_: int) -> None:
    await kill_while_asked(aviary, SLICE, SEED + 1 + slice_)


def test_the_scenes_ask() -> None:
    assert all(blocks(scene) for scene in SCENES)
