"""Statements about any agent: initialize and authentication."""

from typing import Any

import pytest

from tests.acp.doors import Door
from tests.acp.driving import Json
from tests.acp.whole_session import ALLOW, HERE

METHODS = [
    {"id": "key", "name": "Key"},
    {"id": "tty", "name": "Log in", "type": "terminal", "args": ["login"]},
]
LOCKED: Json = {"agent": {"authMethods": METHODS, "authRequired": True}}
CALLS: list[Json] = [
    {"read": "a"},
    {"write": "a", "content": "b"},
    {"command": "true", "output": "out"},
    {"question": "What?"},
    {"ask": "May I?"},
]


async def test_initialize_answers_with_a_protocol_version(door: Door) -> None:
    """That the result is valid, the driver sees."""
    agent = await door.start()
    info = {"name": "test", "title": "A test", "version": "1"}
    offered = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    result = await agent.call(
        "initialize", protocolVersion=1, clientInfo=info, clientCapabilities=offered
    )
    assert type(result["protocolVersion"]) is int
    assert isinstance(result["agentCapabilities"], dict)


async def test_version_1_is_answered_with_version_1(door: Door) -> None:
    agent = await door.start()
    assert (await agent.call("initialize", protocolVersion=1))["protocolVersion"] == 1


@pytest.mark.parametrize("version", [0, 2, 65535])
async def test_an_unknown_version_is_not_echoed(door: Door, version: int) -> None:
    """Draft 2 is answered where its form is offered alone: test_draft_client."""
    agent = await door.start()
    result = await agent.call("initialize", protocolVersion=version, clientCapabilities={})
    assert result["protocolVersion"] == 1
    assert {"agentInfo", "agentCapabilities"} <= set(result)
    assert "result" in await agent.turn(await agent.new(), "hi")


async def test_agent_info_names_the_agent_and_its_version(door: Door) -> None:
    agent = await door.start()
    info = (await agent.call("initialize", protocolVersion=1))["agentInfo"]
    assert info["name"]
    assert info["version"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"clientCapabilities": {}},
        {"clientCapabilities": None},
        {"clientCapabilities": {"fs": {}, "terminal": False, "elicitation": None}},
    ],
    ids=str,
)
async def test_capabilities_left_out_count_as_unsupported(door: Door, params: Json) -> None:
    agent = await door.start()
    agent.answers["session/request_permission"] = lambda _params: ALLOW
    await agent.call("initialize", protocolVersion=1, **params)
    session = await agent.new(str(door.root))
    assert "result" in await agent.turn(session, CALLS)
    assert agent.requests() == ["session/request_permission"]


async def test_a_second_initialize_keeps_sessions_whole(door: Door) -> None:
    """A session from before is the same after it."""
    agent = await door.start()
    session = await agent.begin()
    await agent.turn(session, "one")
    again = await agent.answer(agent.ask("initialize", protocolVersion=1))
    assert "result" in again or again["error"]["code"] == -32600
    agent.news()
    assert "result" in await agent.turn(session, "two")
    assert "You said: two" in str(agent.news(session))


async def test_requests_before_initialize_are_refused(door: Door) -> None:
    agent = await door.start()
    calls: list[tuple[str, Any]] = [
        ("session/new", HERE),
        ("session/list", {}),
        ("session/load", {"sessionId": "x", **HERE}),
        ("session/prompt", {"sessionId": "x", "prompt": []}),
    ]
    for method, params in calls:
        assert type(await agent.call(method, **params)) is int
    assert await agent.begin()


async def test_authentication_method_ids_are_unique(door: Door) -> None:
    agent = await door.start()
    result = await agent.call("initialize", protocolVersion=1)
    ids = [method["id"] for method in result.get("authMethods", [])]
    assert len(ids) == len(set(ids))
    assert ids or await agent.new()


async def test_terminal_login_only_where_the_client_offers_it(door: Door) -> None:
    agent = await door.start(LOCKED)
    for offered, expected in ((False, ["key"]), (None, ["key"]), (True, ["key", "tty"])):
        auth = {} if offered is None else {"auth": {"terminal": offered}}
        result = await agent.call("initialize", protocolVersion=1, clientCapabilities=auth)
        assert [method["id"] for method in result["authMethods"]] == expected


async def test_missing_credentials_are_refused_as_such(door: Door) -> None:
    agent = await door.open(LOCKED)
    assert await agent.call("session/new", **HERE) == -32000
    assert await agent.call("authenticate", methodId="nope") == -32602
    assert await agent.call("authenticate", methodId="key") == {}
    session = await agent.new()
    refused = (await agent.turn(session, [{"error": "401: the key was refused"}]))["error"]
    assert refused["code"] != -32000
    assert "401" in refused["message"]


async def test_logout_only_where_advertised(door: Door) -> None:
    agent = await door.open(LOCKED)
    assert await agent.call("logout") == -32601
    script = {"agent": {**LOCKED["agent"], "capabilities": {"auth": {"logout": {}}}}}
    agent = await door.open(script)
    assert await agent.call("authenticate", methodId="key") == {}
    assert await agent.new()
    assert await agent.call("logout") == {}
    assert await agent.call("session/new", **HERE) == -32000
