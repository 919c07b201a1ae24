"""MCP servers of the editor that are reached over ACP, through the door."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acp.bridging import NOTICES, is_call
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json

SERVER: Json = {"type": "acp", "name": "eggs", "serverId": "eggs-1"}


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def message(request: str, method: str = "tools/list", **params: object) -> Json:
    return {"serverId": "eggs-1", "requestId": request, "method": method, "params": params}


def asking(request: str, *more: Json, method: str = "tools/list") -> list[Json]:
    step = {"request": "mcp/message", "params": message(request, method)}
    return [step, {"text": "$answer"}, *more]


async def opened(door: Door, *servers: Json, **capabilities: Json) -> tuple[Agent, str]:
    agent = await door.start({})
    said = await agent.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
    assert said["agentCapabilities"]["mcpCapabilities"]["acp"] is True
    made = await agent.call("session/new", cwd="/tmp", mcpServers=list(servers))
    return agent, str(made["sessionId"])


def texts(updates: list[Json]) -> str:
    return "".join(
        each["content"]["text"]
        for each in updates
        if each["sessionUpdate"] == "agent_message_chunk"
    )


async def test_an_agents_request_reaches_the_editors_server_and_its_answer_comes_back(
    bridge: Door,
) -> None:
    agent, session = await opened(bridge, SERVER)
    asked: list[Json] = []

    def serve(params: Json) -> Json:
        asked.append(params)
        if params["requestId"] == "2":
            return {"error": {"code": -32602, "message": "no such tool"}}
        return {"result": {"tools": []}}

    agent.answers["mcp/message"] = serve
    await agent.turn(session, [*asking("1"), *asking("2", method="tools/call")])
    assert asked == [message("1"), message("2", "tools/call")]
    said = texts(agent.news())
    assert '"tools":[]' in said
    assert "no such tool" in said


async def test_an_agent_may_ask_before_its_session_is_open(bridge: Door) -> None:
    """Most connect to their servers first: the editor is there before the agent starts."""
    ask = {"request": "mcp/message", "params": message("1")}
    agent = await bridge.start({"start": {"before_answer": [ask]}})
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    agent.answers["mcp/message"] = lambda _: {"result": {}}
    made = await agent.call("session/new", cwd="/tmp", mcpServers=[SERVER])
    assert made["sessionId"]


async def test_notifications_and_cancellations_of_a_request(bridge: Door) -> None:
    agent, session = await opened(bridge, SERVER)
    turn = agent.prompt(session, asking("long", method="tools/call"))
    call = await agent.until(is_call("mcp/message"))
    progress = {"progressToken": 1, "progress": 0.5}
    agent.send(method="mcp/message", params=message("long", "notifications/progress", **progress))
    agent.send(
        method="mcp/message", params=message("unknown", "notifications/progress", **progress)
    )
    agent.notify("session/cancel", sessionId=session)
    taken = await agent.until(is_call("$/cancel_request"))
    assert taken["params"]["requestId"] == call["id"]
    assert (await agent.answer(turn))["result"]["stopReason"] == "cancelled"
    agent.send(id=call["id"], error={"code": -32800, "message": "cancelled"})
    agent.answers["mcp/message"] = lambda _: {"result": {"after": True}}
    await agent.turn(session, asking("next"))
    assert '"after":true' in texts(agent.news())


async def test_a_server_that_nobody_provides_is_an_error_of_the_request(bridge: Door) -> None:
    agent, session = await opened(bridge, SERVER | {"serverId": "other"})
    await agent.turn(session, asking("1"))
    assert "-33001" in texts(agent.news())


async def test_an_answer_that_is_too_large_is_an_error_of_the_request(bridge: Door) -> None:
    agent, session = await opened(bridge, SERVER)
    agent.answers["mcp/message"] = lambda params: {
        "result": {"text": "x" * (2**20 if params["requestId"] == "1" else 100_000)}
    }
    await agent.turn(session, [*asking("1"), *asking("2")])
    said = texts(agent.news())
    assert "-33000" in said
    assert "x" * 90_000 in said


async def test_an_agent_that_takes_no_such_servers_gets_none_and_it_is_said(
    bridge: Door,
) -> None:
    agent = await bridge.start({"agent": {"capabilities": {"mcpCapabilities": {"acp": False}}}})
    await agent.call("initialize", protocolVersion=1, clientCapabilities=NOTICES)
    await agent.call("session/new", cwd="/tmp", mcpServers=[SERVER])
    notice = await agent.until(
        lambda line: "over acp" in str(line.get("params", {}).get("update", {}))
    )
    assert "did not get eggs" in str(notice)
