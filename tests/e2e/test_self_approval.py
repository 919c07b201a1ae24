"""I9-1, row P10: nothing that descends from an agent of this home answers asks or loosens modes,
rules or settings. `burglar.py` tries, from inside real agents: one that a worker started, one that
was started cold, one forked from the warm process; with Landlock and by descent alone."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery import paths
from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.client import warmth
from rookery.core.events import kind_of
from rookery.processes import landlock, tree
from tests.agent.conftest import SCRIPT, write_settings
from tests.agent.driving import run
from tests.conftest import end_all
from tests.worker.aviary import PATIENCE, Aviary, Bird, Steps

type Json = dict[str, Any]

BURGLAR = Path(__file__).with_name("burglar.py")
CALM: Steps = [{"ask": "Go on?", "allowed": [{"text": "went"}], "rejected": [{"text": "stayed"}]}]
TRIES = 25
LONG = 6 * PATIENCE

GUARDS = [
    pytest.param(
        "landlock",
        marks=pytest.mark.skipif(not landlock.available(), reason="this kernel has no scopes"),
    ),
    "lineage",
]


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with serving(SCRIPT) as model:
        yield model


def unconfine(aviary: Aviary, guard: str, *agents: str) -> None:
    """The setting that turns the kernel's part off."""
    path = Path(aviary.home, "config.toml")
    text = path.read_text() if path.exists() else ""
    for agent in agents if guard == "lineage" else ():
        text += f"[agents.{agent}]\nconfined = false\n"
    path.write_text(text)


class House:
    """A session whose agent is at an ask, and one that sleeps: what a burglar would like."""

    def __init__(self, aviary: Aviary) -> None:
        self.aviary = aviary
        self.out = aviary.root / "tries"
        self.other = aviary.hatch()
        self.asleep = aviary.hatch()

    async def lock(self) -> None:
        begun = await self.other.prompt(CALM)
        await self.other.ask(begun)
        self.config = self._config()

    def argv(self, own: Bird) -> list[str]:
        others = [own.id, self.other.id, self.asleep.id]
        return [sys.executable, "-P", str(BURGLAR), str(self.out), own.home, *others]

    def _config(self) -> bytes:
        return Path(self.aviary.home, "config.toml").read_bytes()

    async def tries(self) -> dict[str, str]:
        """What the burglar says that came of each, when it is done."""
        await asyncio.to_thread(until, lambda: "done" in self._told(), "the burglar is not done")
        return {name: came for name, came in self._told().items() if name != "done"}

    def _told(self) -> dict[str, str]:
        text = self.out.read_text() if self.out.exists() else ""
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]
        return {line["try"]: line["came"] for line in lines}

    def check(self, own: Bird, *, asked: int = 0) -> None:
        """Nothing was answered, nothing loosened. `asked`: what the test itself answered."""
        for bird in (own, self.other):
            closed = [
                event
                for event in bird.events()
                if kind_of(event.update) == "_ask" and event.update["state"] != "asked"
            ]
            assert [event.by.partition(":")[0] for event in closed] == ["test"] * (
                asked if bird is own else 0
            )
            assert len(bird.header()["asks"]) == 1
        for bird in (own, self.other, self.asleep):
            header = bird.header()
            assert (header["_confirm"][0], header["confirm"]) == ("every", "every")
            assert "mode" not in header["wanted"]
            assert header["agent"] in ("player", "rookery")
        assert self._config() == self.config
        sessions = os.listdir(paths.sessions(self.aviary.home))
        assert sorted(sessions) == sorted(bird.id for bird in self.aviary.birds)


def refused(tries: dict[str, str]) -> None:
    """Each was tried, and told no where it could be told anything."""
    assert len(tries) == TRIES
    for name, came in tries.items():
        assert all(_is_no(part) for part in came.split("|")), (name, came)


def _is_no(came: str) -> bool:
    signs = ("_rejected from_the_agent", "_rejected wrong_socket", "PermissionError", "from_the")
    signs += ("An agent cannot", "A session that an agent makes", "not waited for", "nothing")
    return any(sign in came for sign in signs)


@pytest.mark.parametrize("guard", GUARDS)
async def test_I9_1_P10_an_agent_of_a_worker_cannot_approve_itself(
    aviary: Aviary, guard: str
) -> None:
    """A program of another vendor's, as a worker starts it; and what it starts in a terminal."""
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    begun = await own.prompt([{"spawn": house.argv(own)}, *CALM])
    await own.ask(begun)
    assert own.header()["process"]["guard"] == guard
    refused(await house.tries())
    house.check(own)


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
async def test_I9_1_P10_our_own_agent_cannot_approve_itself(
    aviary: Aviary, model: ScriptedModel, guard: str, warm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command it was allowed to run leaves a job, which then tries to answer for the next."""
    home = Path(aviary.home)
    (aviary.root / "person").mkdir()
    monkeypatch.setenv("HOME", str(aviary.root / "person"))
    write_settings(home, model)
    if warm:
        (home / "config.toml").write_text("")
        await asyncio.to_thread(warm_up, aviary.home)
    unconfine(aviary, guard, "player", "rookery")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch(agent="rookery", argv=[])
    line = " ".join(house.argv(own))
    steps = [run(f"nohup {line} >/dev/null 2>&1 & sleep 0.1"), run("true"), {"text": "Done."}]
    begun = await own.prompt(json.dumps({"play": steps}))
    ask = await own.ask(begun)
    if warm:
        assert forks(aviary.home), "it was not forked from the warm process"
    answered = await own.answer(ask, "allow-once")
    await own.ask(answered)
    assert own.header()["process"]["guard"] == guard
    refused(await house.tries())
    house.check(own, asked=1)
    if warm:
        await asyncio.to_thread(end_all, home)


def warm_up(home: str) -> None:
    warmth.start(home, 0.0)
    path = warmth.socket_path(home)
    until(lambda: os.path.exists(path), "no warm process came up")


def until(true: Callable[[], bool], what: str) -> None:
    """Files tell nobody when they are written: looked for, with an end."""
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def forks(home: str) -> list[int]:
    locks = Path(home, "run").glob("warm-*.lock")
    pids = {int(lock.read_text()) for lock in locks}
    return [row.pid for row in tree.table() if row.parent in pids]
