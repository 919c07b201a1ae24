"""Prompts, cancels, choices, answers, loads and kill -9 at any moment of a turn. Every prompt is
answered once, nothing runs twice or against a no, and the model's history stays valid.
`STORM_SEED=7 make test-all ARGS=tests/agent/test_storm.py`"""

import asyncio
import itertools
import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import ALLOW, CANCELLED, REJECT, run, stop_reason
from tests.agent.test_subagents import task

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

SEED = int(os.environ.get("STORM_SEED", "1"))
ROUNDS = 25
PATIENCE = 120.0
MODES = ("always-ask", "risk-based", "always-approve", "plan")
WORD = re.compile(r"echo (t\d+) >> ran")
GUSTS = (
    "prompt",
    "prompt",
    "cancel",
    "cancel",
    "mode",
    "model",
    "effort",
    "command",
    "fork",
    "nothing",
)
COMMANDS = (
    *("/condense", "/cost", "/skills", "/rewind", "/clear", "/title", "/plan look around", "/go"),
    *("/goal be done", "/confirm risky", "/model second"),
)


def assert_valid(messages: list[Json]) -> None:
    """Each call has one result, right after the message that made it."""
    open_: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_, message
            open_.remove(message["tool_call_id"])
            continue
        assert open_ == set(), message
        open_ = {call["id"] for call in message.get("tool_calls") or []}
    assert open_ == set()


class Storm:
    def __init__(self, home: Path, model: ScriptedModel, place: Path, seed: int) -> None:
        self.home, self.model, self.place = home, model, place
        self.random = Random(seed)
        self.told: list[str] = []
        """What was done, for whoever reads a failure."""
        self.verdicts: dict[str, set[str]] = {}
        self._numbers = itertools.count(1)
        self._later: set[asyncio.Task[None]] = set()

    # --- the agent --------------------------------------------------------------------------------

    async def start(self) -> None:
        self.agent = await Agent.start(ARGV, environment=surroundings(self.home), forked=True)
        self.agent.answers["session/request_permission"] = self.decide
        self.answered: dict[int, asyncio.Future[Json]] = {}
        self._reading = asyncio.ensure_future(self._read())
        await self.call("initialize", protocolVersion=1, clientCapabilities={})

    async def _read(self) -> None:
        with suppress(EOFError):
            while True:
                line = await self.agent.read()
                if "method" not in line and line["id"] in self.answered:
                    assert not self.answered[line["id"]].done(), "answered twice"
                    self.answered[line["id"]].set_result(line)

    def ask(self, method: str, **params: object) -> "asyncio.Future[Json]":
        id = self.agent.ask(method, **params)
        self.answered[id] = asyncio.get_running_loop().create_future()
        return self.answered[id]

    async def call(self, method: str, **params: object) -> Json:
        async with asyncio.timeout(PATIENCE):
            return await self.ask(method, **params)

    def prompt(self, text: str | list[Json]) -> "asyncio.Future[Json]":
        id = self.agent.prompt(self.session, text)
        self.answered[id] = asyncio.get_running_loop().create_future()
        return self.answered[id]

    async def end(self) -> None:
        self._reading.cancel()
        await self.agent.kill()

    # --- the weather ------------------------------------------------------------------------------

    def decide(self, params: Json) -> Json | None:
        """At once, later, or never."""
        word = WORD.search(str(params["toolCall"].get("rawInput")))
        said, answer = self.random.choice(
            [("yes", ALLOW), ("yes", ALLOW), ("no", REJECT), ("no", CANCELLED), ("", None)]
        )
        name = word[1] if word else "-"
        self.told.append(f"{name} {said or 'nothing'}")
        self.verdicts.setdefault(name, set()).add(said)
        if answer is not None and self.random.random() < 0.3:
            id = self.agent.lines[-1]["id"]
            later = asyncio.ensure_future(self._answer(id, answer, self.random.random()))
            self._later.add(later)
            return None
        return answer

    async def _answer(self, id: object, answer: Json, wait: float) -> None:
        await asyncio.sleep(wait)
        with suppress(OSError):
            self.agent.send(id=id, result=answer)

    def word(self) -> Json:
        return run(f"echo t{next(self._numbers)} >> ran", security_risk="LOW")

    def scene(self) -> list[Json]:
        words = {"text": "one two three four five six", "chunks": 6, "every": 0.03}
        three = {"calls": [self.word()["call"] for _ in range(3)]}
        slow = self.word()
        slow["call"]["arguments"]["command"] += "; sleep 0.3"
        return self.random.choice(
            [
                [words],
                [self.word(), words],
                [{"thought": "hm hm hm", "chunks": 5, "every": 0.05, "text": "so"}, words],
                [three, self.word(), {"text": "three"}],
                [slow, self.word(), {"text": "slow"}],
                [task([self.word(), {"text": "below"}]), {"text": "above"}],
                [{"error": "overloaded"}, self.word(), {"text": "went"}],
                [{"text": "half of it", "chunks": 4, "every": 0.05, "drop": 2}, {"text": "whole"}],
                [{"call": {"name": "nothing", "arguments": "{"}}, self.word(), {"text": "odd"}],
                [{"call": {"name": "grep", "arguments": {"pattern": "t1"}}}, {"text": "found"}],
            ]
        )

    async def gust(self) -> "asyncio.Future[Json] | None":
        await asyncio.sleep(self.random.random() ** 2 * 0.6)
        kind = self.random.choice(GUSTS)
        self.told.append(kind)
        match kind:
            case "prompt":
                return self.prompt(self.scene())
            case "cancel":
                for _ in range(self.random.choice([1, 1, 2])):
                    self.agent.notify("session/cancel", sessionId=self.session)
            case "mode":
                mode = self.random.choice(MODES)
                return self.ask("session/set_mode", sessionId=self.session, modeId=mode)
            case "model" | "effort":
                value = self.random.choice(
                    ["first", "second"] if kind == "model" else ["low", "high"]
                )
                given = {"configId": kind, "value": value}
                return self.ask("session/set_config_option", sessionId=self.session, **given)
            case "command":
                return self.prompt(self.random.choice(COMMANDS))
            case "fork":
                given = {"cwd": str(self.place), "mcpServers": []}
                return self.ask("session/fork", sessionId=self.session, **given)
        return None

    async def round(self) -> None:
        begun = [self.prompt(self.scene())]
        gusts = [await self.gust() for _ in range(self.random.randint(0, 5))]
        begun += [each for each in gusts if each is not None]
        if self.random.random() < 0.2:
            await self.crash()
            return
        if self.random.random() < 0.1:
            await self.load("session/close")
        for _ in range(200):
            _, left = await asyncio.wait(begun, timeout=2.0)
            if not left:
                break
            self.agent.notify("session/cancel", sessionId=self.session)  # an ask nobody answers
        assert all(each.done() for each in begun), "a prompt was not answered"

    async def crash(self) -> None:
        self.told.append("kill -9")
        await self.end()
        await self.start()
        await self.load()

    async def load(self, *before: str) -> None:
        for method in before:
            self.told.append(method)
            await self.call(method, sessionId=self.session)
        given = {"sessionId": self.session, "cwd": str(self.place), "mcpServers": []}
        answer = await self.call("session/load", **given)
        assert "result" in answer, answer

    async def calm(self) -> None:
        """Afterwards the session is as usable as a new one."""
        self.decide = lambda params: REJECT  # type: ignore[method-assign]
        self.agent.answers["session/request_permission"] = self.decide
        for text in ("settle", "went on"):
            answer = await self.prompt([{"text": text}])
        assert stop_reason(answer) == "end_turn"
        assert_valid(self.model.asked[-1].body["messages"])
        ran = (
            Counter((self.place / "ran").read_text().split())
            if (self.place / "ran").exists()
            else {}
        )
        assert [word for word, times in ran.items() if times > 1] == []
        refused = {
            word for word, said in self.verdicts.items() if "no" in said and "yes" not in said
        }
        assert refused & set(ran) == set()


@pytest.mark.parametrize("part", range(4))
async def test_a_storm_of_kills_and_cancels_loses_and_repeats_nothing(
    agent_home: Path, model: ScriptedModel, tmp_path: Path, part: int
) -> None:
    storm = Storm(agent_home, model, tmp_path, SEED * 100 + part)
    await storm.start()
    try:
        made = await storm.call("session/new", cwd=str(tmp_path), mcpServers=[])
        storm.session = made["result"]["sessionId"]
        for _ in range(ROUNDS):
            await storm.round()
        await storm.calm()
    finally:
        print("\n".join(storm.told[-80:]))  # shown where it failed
        await storm.end()
