"""Sessions that an editor titles, archives, looks at and forks, open or not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.client.session import SessionClient
from rookery.core.header import Header
from rookery.home import paths
from rookery.log.reader import Reader
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def header(door: Door, session: str) -> Header:
    with Reader.open(paths.session_dir(str(door.home), session)) as log:
        return log.header()


async def listed(agent: Agent, **params: Any) -> dict[str, bool]:
    found = await agent.call("session/list", **params)
    return {each["sessionId"]: each["archived"] for each in found["sessions"]}


async def test_a_title_is_stored_and_told_to_who_has_the_session_open(bridge: Door) -> None:
    agent, other = await bridge.start(), await bridge.start()
    session = await agent.begin(str(bridge.root))
    await agent.turn(session, "hello")
    await other.call("initialize", protocolVersion=1)
    said = await other.call("session/set_title", sessionId=session, title="  Mine \n two ")
    assert said == {"title": "Mine"}
    assert header(bridge, session).title == "Mine"
    told = await agent.until(lambda line: "session_info_update" in str(line))
    assert told["params"]["update"]["title"] == "Mine"
    await agent.turn(session, [{"title": "The agent's"}])
    assert header(bridge, session).title == "Mine"


@pytest.mark.parametrize("title", ["", " \n ", None, 7, ["x"]])
async def test_a_title_that_is_none_is_refused(bridge: Door, title: Any) -> None:
    agent = await bridge.start()
    session = await agent.begin(str(bridge.root))
    assert await agent.call("session/set_title", sessionId=session, title=title) == -32602


async def test_an_unknown_session_is_not_found(bridge: Door) -> None:
    agent = await bridge.start()
    await agent.begin(str(bridge.root))
    for word in ("archive", "unarchive", "status", "set_title", "fork"):
        for name in ("0123456789", "../x", "", "a" * 5000):
            more = {"title": "x", "cwd": str(bridge.root)}
            code = await agent.call(f"session/{word}", sessionId=name, **more)
            assert code == -32002, (word, name[:20], code)
        assert await agent.call(f"session/{word}", title="x", cwd="/") == -32602


async def test_an_archived_session_is_closed_hidden_and_comes_back(bridge: Door) -> None:
    agent = await bridge.start()
    session = await agent.begin(str(bridge.root))
    running = agent.prompt(session, [{"text": "On my way"}, {"until": "cancel"}])
    await agent.until(lambda line: "On my way" in str(line))
    assert await agent.call("session/archive", sessionId=session) == {}
    answers = [line for line in agent.lines if line.get("id") == running]
    assert answers[0]["result"]["stopReason"] == "cancelled"
    assert await agent.call("session/archive", sessionId=session) == {}
    assert await listed(agent) == {}
    assert await listed(agent, archived="only") == {session: True}
    assert await agent.call("session/list", archived="some") == -32602
    blocks = [{"type": "text", "text": "hi"}]
    assert await agent.call("session/prompt", sessionId=session, prompt=blocks) == -32002
    for _ in range(2):
        assert await agent.call("session/unarchive", sessionId=session) == {}
    assert await listed(agent, archived="include") == {session: False}
    await agent.call("session/load", sessionId=session, cwd=str(bridge.root), mcpServers=[])
    assert "result" in await agent.turn(session, "again")


async def test_another_clients_turn_is_cancelled_by_archiving(bridge: Door) -> None:
    agent, other = await bridge.start(), await bridge.start()
    session = await agent.begin(str(bridge.root))
    running = agent.prompt(session, [{"text": "On my way"}, {"until": "cancel"}])
    await agent.until(lambda line: "On my way" in str(line))
    await other.call("initialize", protocolVersion=1)
    assert await other.call("session/archive", sessionId=session) == {}
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"
    assert header(bridge, session).archived is True


async def test_status_says_whether_it_is_awake(bridge: Door) -> None:
    agent = await bridge.start()
    session = await agent.begin(str(bridge.root))
    assert await agent.call("session/status", sessionId=session) == {"status": "open"}
    with SessionClient(str(bridge.home), session) as client:
        await client.send({"do": "stop"})
    await agent.call("session/close", sessionId=session)
    while await agent.call("session/status", sessionId=session) != {"status": "saved"}:
        pass


async def test_a_fork_has_the_turns_that_are_over_and_goes_its_own_way(bridge: Door) -> None:
    agent = await bridge.start()
    session = await agent.begin(str(bridge.root))
    await agent.turn(session, "one")
    await agent.turn(session, "two")
    running = agent.prompt(session, [{"text": "On my way"}, {"until": "cancel"}])
    await agent.until(lambda line: "On my way" in str(line))
    where: Json = {"sessionId": session, "cwd": str(bridge.root)}
    made = await agent.call("session/fork", **where)
    first = await agent.call("session/fork", **where, _meta={"rookery": {"turn": 1}})
    assert [header(bridge, each["sessionId"]).turn for each in (made, first)] == [2, 1]
    assert "result" in await agent.turn(made["sessionId"], "in the fork")
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"
    assert header(bridge, session).turn == 3


async def test_a_fork_that_cannot_be_is_refused(bridge: Door) -> None:
    agent = await bridge.start()
    session = await agent.begin(str(bridge.root))
    where: Json = {"sessionId": session, "cwd": str(bridge.root)}
    assert await agent.call("session/fork", **{**where, "cwd": "/"}) == -32602
    for turn in (9, -1, "1", None, 10**30):
        meta = {"rookery": {"turn": turn}}
        assert await agent.call("session/fork", **where, _meta=meta) == -32602
    empty = await agent.call("session/fork", **where)  # of a session without a turn
    assert "result" in await agent.turn(empty["sessionId"], "first")
