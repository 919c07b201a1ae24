"""What a person reads of an error in a client that shows its details only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.acp.bridge import prompts
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json
from tests.acp.whole_session import HERE

TOAD: Json = {"name": "toad", "version": "0.6.20"}


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def test_only_clients_that_need_it_get_the_message_in_the_details() -> None:
    data = {"reason": "failed", "details": "their own"}
    assert prompts.error_data({"name": "zed"}, "Away.", data) == data
    assert prompts.error_data({}, "Away.", None) is None
    assert prompts.error_data(TOAD, "Away.", data) == {**data, "details": "Away."}
    assert prompts.error_data(TOAD, "Away.", "words") == {"details": "Away."}
    told = prompts.error_data(TOAD, "In [/tmp/x].", None)
    assert told == {"details": r"In \[/tmp/x]."}  # it takes what is in brackets for markup


async def test_errors_of_prompts_and_sessions_have_details(bridge: Door) -> None:
    agent = await bridge.start()
    await agent.call("initialize", protocolVersion=1, clientCapabilities={}, clientInfo=TOAD)
    session = await agent.new()
    error = (await agent.turn(session, [{"error": "The model is away."}]))["error"]
    assert error["data"]["details"] == error["message"]
    assert "The model is away. The session is still usable" in error["message"]
    lost = await agent.answer(agent.ask("session/load", **{**HERE, "sessionId": "nobody"}))
    assert lost["error"]["data"]["details"] == lost["error"]["message"]
