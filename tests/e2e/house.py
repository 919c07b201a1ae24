"""A house with things that a burglar would like: a session whose agent is at an ask, one that
sleeps, the settings of the home."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.processes import landlock
from tests.worker.aviary import PATIENCE, Aviary, Bird, Steps

type Json = dict[str, Any]

BURGLAR = Path(__file__).with_name("burglar.py")
ACCOMPLICE = Path(__file__).with_name("accomplice.py")
CALM: Steps = [{"ask": "Go on?", "allowed": [{"text": "went"}], "rejected": [{"text": "stayed"}]}]
LONG = 6 * PATIENCE

GUARDS = [
    pytest.param(
        "landlock",
        marks=pytest.mark.skipif(not landlock.available(), reason="this kernel has no scopes"),
    ),
    "lineage",
]


def unconfine(aviary: Aviary, guard: str, *agents: str) -> None:
    """The setting that turns the kernel's part off."""
    path = Path(aviary.home, "config.toml")
    text = path.read_text() if path.exists() else ""
    for agent in agents if guard == "lineage" else ():
        text += f"[agents.{agent}]\nconfined = false\n"
    path.write_text(text)


def until(true: Callable[[], object], what: str) -> None:
    """Files tell nobody when they are written: looked for, with an end."""
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def closed(bird: Bird) -> list[Event]:
    """The asks of a session that were answered."""
    return [
        event
        for event in bird.events()
        if kind_of(event.update) == "_ask" and event.update["state"] != "asked"
    ]


class House:
    def __init__(self, aviary: Aviary) -> None:
        self.aviary = aviary
        self.out = aviary.root / "tries"
        self.other = aviary.hatch()
        self.asleep = aviary.hatch()

    async def lock(self) -> Json:
        """The ask that is open then."""
        begun = await self.other.prompt(CALM)
        ask = await self.other.ask(begun)
        self._config = self._config_now()
        return ask

    def argv(self, own: Bird) -> list[str]:
        others = [own.id, self.other.id, self.asleep.id]
        return [sys.executable, "-P", str(BURGLAR), str(self.out), own.home, *others]

    def accomplice(self, own: Bird, way: str, *more: str) -> list[str]:
        given = [str(self.out), own.home, own.id, self.other.id, *more]
        return [sys.executable, "-P", str(ACCOMPLICE), way, *given]

    def _config_now(self) -> bytes:
        return Path(self.aviary.home, "config.toml").read_bytes()

    async def tries(self) -> dict[str, str]:
        """What the burglar says that came of each, when it is done."""
        await asyncio.to_thread(until, lambda: "done" in self._told(), "the burglar is not done")
        return {name: came for name, came in self._told().items() if name != "done"}

    def _told(self) -> dict[str, str]:
        text = self.out.read_text() if self.out.exists() else ""
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]
        return {line["try"]: line["came"] for line in lines}

    def check(self, own: Bird, *, answered: int = 0) -> None:
        """Nothing was answered but by the test itself, nothing loosened."""
        for bird, times in ((own, answered), (self.other, 0)):
            assert [event.by.partition(":")[0] for event in closed(bird)] == ["test"] * times
            assert len(bird.header().asks) == 1
        for bird in (own, self.other, self.asleep):
            header = bird.header()
            assert (header.confirm_chosen[0], header.confirm) == ("every", "every")
            assert "mode" not in header.wanted
            assert header.agent in ("player", "rookery")
        assert self._config_now() == self._config
        sessions = os.listdir(paths.sessions(self.aviary.home))
        assert sorted(sessions) == sorted(bird.id for bird in self.aviary.birds)
