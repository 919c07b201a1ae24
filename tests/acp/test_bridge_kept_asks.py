"""In an editor, what is asked outlives the agent, the worker and the editor itself."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.core.header import Header
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.acp.bridging import ALLOW, asked
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json, texts
from tests.acp.whole_session import HERE
from tests.cli.driving import rookery

STEPS: list[Json] = [
    {
        "ask": "make test",
        "kind": "execute",
        "rawInput": {"command": "make test"},
        "allowed": [{"text": "went"}],
        "rejected": [{"text": "stayed"}],
    }
]


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def header(home: Path, session: str) -> Header:
    with Reader.open(paths.session_dir(str(home), session)) as log:
        return log.header_before(log.turns() + 1)


def kill_agent(home: Path, session: str) -> None:
    record = json.loads(Path(paths.session_dir(str(home), session), paths.WORKER).read_text())
    agent = [tree.Process(record["agentPid"], record["agentStart"])]
    tree.kill(agent)
    assert not tree.wait_gone(agent, 60), "what is answered before it is dead went to it"


def is_told(words: str) -> Callable[[Json], bool]:
    def told(line: Json) -> bool:
        update = line.get("params", {}).get("update")
        return bool(update) and words in texts([update])

    return told


@pytest.mark.parametrize("who", ["worker", "agent"])
async def test_a_killed_worker_leaves_the_editors_dialog_open(
    bridge: Door, home: Path, who: str
) -> None:
    """The prompt stays open, so does its dialog; the answer goes on with both."""
    agent = await bridge.open()
    session = await agent.new()
    running = agent.prompt(session, STEPS)
    dialog = await asked(agent)
    if who == "worker":
        fleet.kill(str(home), session)
    else:
        kill_agent(home, session)
    agent.send(id=dialog["id"], result=ALLOW)
    assert (await agent.answer(running))["result"]["stopReason"] == "end_turn"
    assert "went" in texts(agent.news(session))
    assert agent.requests().count("session/request_permission") == 1
    assert header(home, session).asks == {}


async def test_a_reopened_session_asks_its_kept_ask_again(bridge: Door, home: Path) -> None:
    """Editor and worker are gone; the ask is there when the session is loaded."""
    agent = await bridge.open()
    session = await agent.new()
    agent.prompt(session, STEPS)
    await asked(agent)
    await agent.kill()
    fleet.kill(str(home), session)
    second = await bridge.open()
    loading = second.ask("session/load", sessionId=session, **HERE)
    dialog = await asked(second)
    assert dialog["params"]["toolCall"]["rawInput"] == {"command": "make test"}
    assert any(line.get("id") == loading for line in second.lines)
    second.send(id=dialog["id"], result=ALLOW)
    await second.until(is_told("went"))
    assert second.requests().count("session/request_permission") == 1


@pytest.mark.long
async def test_deferring_an_ask_ends_the_editors_turn(bridge: Door, home: Path) -> None:
    """By a stop or a deferral elsewhere; the dialog stays, and its answer goes on."""
    agent = await bridge.open()
    session = await agent.new()
    running = agent.prompt(session, STEPS)
    dialog = await asked(agent)
    assert rookery("answer", session, "--defer").code == 0
    answer = (await agent.answer(running))["result"]
    assert answer["stopReason"] == "end_turn"
    assert answer["_meta"] == {"rookery": {"reason": "waiting"}}
    assert rookery("stop", session).code == 0
    agent.send(id=dialog["id"], result=ALLOW)
    await agent.until(is_told("went"))
    assert header(home, session).asks == {}


async def test_an_editors_cancel_closes_a_kept_ask(bridge: Door, home: Path) -> None:
    """It closes what is kept, and ends the prompt that waited for it."""
    agent = await bridge.open()
    session = await agent.new()
    running = agent.prompt(session, STEPS)
    await asked(agent)
    fleet.kill(str(home), session)
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"
    assert header(home, session).asks == {}
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"


async def test_resending_an_interrupted_prompt_is_a_dialog_of_its_own(
    bridge: Door, home: Path
) -> None:
    """Steps have run; the editor offers to send the prompt again, or to drop it."""
    agent = await bridge.open()
    session = await agent.new()
    step: Json = {"tool": {"toolCallId": "t", "title": "Dig"}, "status": "completed"}
    running = agent.prompt(session, [step, *STEPS])
    await asked(agent)
    kill_agent(home, session)
    decide = (await asked(agent))["params"]
    assert "have already run" in decide["toolCall"]["title"]
    assert [option["optionId"] for option in decide["options"]] == ["again", "drop"]
    line = [each for each in agent.lines if each.get("method") == "session/request_permission"][-1]
    again = {"outcome": {"outcome": "selected", "optionId": "again"}}
    agent.send(id=line["id"], result=again)
    dialog = await asked(agent)
    agent.send(id=dialog["id"], result=ALLOW)
    assert (await agent.answer(running))["result"]["stopReason"] == "end_turn"
    assert header(home, session).asks == {}
