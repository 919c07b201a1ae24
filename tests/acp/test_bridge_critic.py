"""The critic before an editor: its prompt is answered after the critic's last word, and a cancel
ends the command that judges (agent.md, Critic and refinement). Lines on stdio, as an editor's."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from rookery.client.session import SessionClient
from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.log.reader import Reader
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import PATIENCE, Agent, Json, texts
from tests.worker.aviary import trust

WORKS: list[Json] = [{"write": "out.txt", "content": "x"}, {"text": "Did it."}]


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def configure(home: Path, command: str, **critic: Any) -> None:
    given = {"command": command, "refine": True, **critic}
    lines = ["[critic]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
    (home / "config.toml").write_text("\n".join(lines) + "\n")
    trust(str(home))


def logged(home: Path, session: str) -> list[Event]:
    with Reader.open(paths.session_dir(str(home), session)) as log:
        return log.read(0)


async def opened(bridge: Door, tmp_path: Path) -> tuple[Agent, str]:
    agent = await bridge.start({"otherwise": WORKS})
    await agent.call("initialize", protocolVersion=1)
    return agent, await agent.new(str(tmp_path))


async def test_the_answer_comes_after_the_last_word(
    bridge: Door, home: Path, tmp_path: Path
) -> None:
    """Two verdicts are poor: both refinements, and what they made, come before the answer."""
    counts = "n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n > count; "
    configure(home, counts + "[ $n -ge 3 ]")
    agent, session = await opened(bridge, tmp_path)
    answer = await agent.turn(session, "go")
    assert answer["result"]["stopReason"] == "end_turn"
    assert texts(agent.news(session)).count("Did it.") == 3, "all of it came before"
    verdicts = [e.update for e in logged(home, session) if kind_of(e.update) == "_critic"]
    assert [each["again"] for each in verdicts] == [True, True, False]
    assert "result" in await agent.turn(session, "next"), "one answer to each prompt"


async def test_a_cancel_while_the_command_runs(bridge: Door, home: Path, tmp_path: Path) -> None:
    """The turn is over for the agent, not for the editor: what it cancels is the judging."""
    configure(home, "sleep 600 & wait")
    agent, session = await opened(bridge, tmp_path)
    prompt = agent.prompt(session, "go")
    watcher = SessionClient(str(home), session, "test")
    async with asyncio.timeout(PATIENCE), aclosing(watcher.follow(0)) as events:
        async for event in events:
            if event.by == "critic":
                break
    watcher.close()
    turns = [e.update for e in logged(home, session) if kind_of(e.update) == "_turn"]
    states = [update["state"] for update in turns if "ran" not in update]
    assert states == ["running", "idle"], "its turn is over"
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(prompt))["result"] == {"stopReason": "cancelled"}
    [verdict] = [e.update for e in logged(home, session) if kind_of(e.update) == "_critic"]
    assert verdict["state"] == "cancelled"
    configure(home, "exit 0")
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"
