"""A reached budget in an editor is a dialog, and the prompt stays open meanwhile."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acp.bridging import asked
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json, texts
from tests.cli.driving import rookery

SPENDS: list[Json] = [{"usage": 900}, {"text": "spent"}, {"until": "cancel"}]


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    (home / "config.toml").write_text('[session]\nbudget_turn = "500 tokens"\n')
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


async def test_a_reached_budget_asks_the_editor_whether_to_continue(bridge: Door) -> None:
    agent = await bridge.open()
    session = await agent.new()
    running = agent.prompt(session, SPENDS)
    dialog = await asked(agent)
    call, options = dialog["params"]["toolCall"], dialog["params"]["options"]
    assert call["title"] == "This turn has used 900 of 500 tokens. Continue?"
    assert [each["optionId"] for each in options] == ["continue", "raise", "lift", "stop"]
    went_on = {"outcome": {"outcome": "selected", "optionId": "continue"}}
    agent.send(id=dialog["id"], result=went_on)
    assert (await agent.answer(running))["result"]["stopReason"] == "end_turn"
    assert any("Go on where you stopped" in said for said in texts(agent.news(session)))
    running = agent.prompt(session, [{"usage": 2000}, {"until": "cancel"}])
    dialog = await asked(agent)
    agent.send(id=dialog["id"], result={"outcome": {"outcome": "selected", "optionId": "stop"}})
    stopped = (await agent.answer(running))["result"]
    assert stopped == {"stopReason": "end_turn", "_meta": {"rookery": {"reason": "waiting"}}}


async def test_stop_withdraws_a_prompt_held_by_a_budget(bridge: Door) -> None:
    agent = await bridge.open()
    session = await agent.new()
    assert rookery("set", session, "budget_session", "100 tokens").code == 0
    running = agent.prompt(session, [{"usage": 200}, {"until": "cancel"}])
    dialog = await asked(agent)
    agent.send(id=dialog["id"], result={"outcome": {"outcome": "selected", "optionId": "stop"}})
    await agent.answer(running)
    running = agent.prompt(session, "more")
    dialog = await asked(agent)
    assert dialog["params"]["toolCall"]["title"].startswith("This session has used 200 of 100")
    agent.send(id=dialog["id"], result={"outcome": {"outcome": "selected", "optionId": "stop"}})
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"


async def test_raising_the_budget_elsewhere_withdraws_the_dialog(bridge: Door) -> None:
    agent = await bridge.open()
    session = await agent.new()
    running = agent.prompt(session, SPENDS)
    dialog = await asked(agent)
    assert rookery("set", session, "budget_turn", "off").code == 0
    withdrawn = {"requestId": dialog["id"]}
    await agent.until(lambda line: line.get("params") == withdrawn)
    assert (await agent.answer(running))["result"]["stopReason"] == "end_turn"
