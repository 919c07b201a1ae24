"""A client that speaks draft 2, at every door of ours: each line is held to the draft's schema."""

import asyncio
from typing import Any

import pytest

from tests.acp.bridging import asked
from tests.acp.doors import Door
from tests.acp.driving import Agent, Json

INFO: Json = {"name": "test", "version": "1"}
ALLOW: Json = {"outcome": {"outcome": "selected", "optionId": "allow"}}
FORMS: Json = {"elicitation": {"form": {}}}


async def greet(agent: Agent, version: int = 2, **capabilities: Any) -> Json:
    agent.version = 2
    params = {"protocolVersion": version, "info": INFO, "capabilities": capabilities}
    return dict(await agent.call("initialize", **params))


async def begin(agent: Agent, door: Door, **capabilities: Any) -> str:
    await greet(agent, **capabilities)
    made = await agent.call("session/new", cwd=str(door.root))
    return str(made["sessionId"])


def is_state(state: str) -> Any:
    def is_it(line: Json) -> bool:
        update = line.get("params", {}).get("update", {})
        return bool(update.get("sessionUpdate") == "state_update" and update["state"] == state)

    return is_it


async def turn(agent: Agent, session: str, play: str | list[Json]) -> Json:
    """The idle state that ends it."""
    agent.news()
    agent.prompt(session, play)
    line = await agent.until(is_state("idle"))
    return dict(line["params"]["update"])


def kinds(updates: list[Json]) -> list[str]:
    return [f"{each['sessionUpdate']} {each.get('state', '')}".strip() for each in updates]


@pytest.mark.parametrize("version", [2, 3, 65535])
async def test_acp_draft_is_answered_in_2(door: Door, version: int) -> None:
    agent = await door.start()
    result = await greet(agent, version)
    assert result["protocolVersion"] == 2
    assert result["info"]["name"]
    assert result["capabilities"]["session"]["mcp"]["stdio"] == {}
    if result.get("authMethods"):
        assert await agent.call("auth/logout") == {}


async def test_acp_draft_prompt_is_answered_before_its_end(door: Door) -> None:
    agent = await door.start()
    session = await begin(agent, door)
    agent.news()
    prompt = agent.prompt(session, [{"thought": "hm"}, {"text": "Hello"}, {"until": "cancel"}])
    accepted = (await agent.answer(prompt))["result"]
    echoed = [each for each in agent.news() if each["sessionUpdate"].startswith("user_message")]
    assert {each["messageId"] for each in echoed} == {accepted["messageId"]}
    await agent.until(lambda line: "Hello" in str(line))
    agent.notify("session/cancel", sessionId=session)
    ended = (await agent.until(is_state("idle")))["params"]["update"]
    assert ended["stopReason"] == "cancelled"
    told = kinds(agent.news())
    assert told.index("state_update running") < told.index("agent_message_chunk")


CALLS: list[Json] = [
    {"plan": ["one", "two"], "done": 1},
    {"diff": "a.txt", "old": "x\n", "new": "y\n"},
    {"diff": "b.txt", "new": "no newline"},
    {"command": "echo hi", "output": "hi"},
    {"commands": [{"name": "go", "description": "Goes", "input": {"hint": "where"}}]},
    {"usage": 5, "size": 100, "cost": 0.1},
    {"title": "A title"},
    {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}},
    {"text": "Done"},
]


async def test_acp_draft_forms_are_the_drafts(door: Door) -> None:
    """That each is valid, the driver sees; that none is missing, this does."""
    agent = await door.start()
    session = await begin(agent, door)
    ended = await turn(agent, session, CALLS)
    assert ended["stopReason"] == "end_turn"
    told = agent.news(session)
    wanted = {"plan_update", "tool_call_update", "available_commands_update", "usage_update"}
    assert wanted | {"session_info_update", "agent_message_chunk"} <= {
        each["sessionUpdate"] for each in told
    }
    patches = [
        part["patch"]["text"]
        for each in told
        for part in each.get("content", [])
        if isinstance(part, dict) and part.get("type") == "diff"
    ]
    assert any("-x\n+y\n" in patch for patch in patches)
    assert any("\\ No newline at end of file" in patch for patch in patches)


async def test_acp_draft_ask_waits_for_action(door: Door) -> None:
    agent = await door.start()
    session = await begin(agent, door, **FORMS)
    agent.news()
    agent.prompt(session, [{"ask": "May I?", "allowed": [{"text": "Thanks"}]}])
    ask = await asked(agent)
    assert ask["params"]["subject"]["type"] == "tool_call"
    assert ask["params"]["title"]
    agent.send(id=ask["id"], result=ALLOW)
    await agent.until(is_state("idle"))
    states = [each["state"] for each in agent.news() if each["sessionUpdate"] == "state_update"]
    assert states == ["running", "requires_action", "running", "idle"]


async def test_acp_draft_resume_tells_the_state_before_its_answer(door: Door) -> None:
    agent = await door.start()
    session = await begin(agent, door)
    await turn(agent, session, "one")
    said = [each for each in agent.news() if each["sessionUpdate"].endswith("message_chunk")]
    again = await door.start()
    await greet(again)
    where: Json = {"sessionId": session, "cwd": str(door.root)}
    for replay in (None, {"type": "start"}):
        again.news()
        result = await again.answer(again.ask("session/resume", **where, replayFrom=replay))
        assert "result" in result
        told = again.news()
        assert kinds(told)[-1 if replay else 0] == "state_update idle"
        texts = [each for each in told if each["sessionUpdate"].endswith("message_chunk")]
        assert bool(texts) is bool(replay)
    ids = {each["messageId"] for each in texts}
    assert {each["messageId"] for each in said} <= ids


WRONG: list[tuple[str, Json]] = [
    ("session/resume", {"replayFrom": {"type": "middle"}}),
    ("session/resume", {"replayFrom": "start"}),
    ("session/set_config_option", {"configId": "x", "type": "number", "value": 1}),
    ("session/set_config_option", {"configId": "x", "type": "id", "value": True}),
    ("session/load", {}),
    ("session/set_mode", {"modeId": "x"}),
    ("session/prompt", {"prompt": [{"type": "text", "text": "hi"}], "sessionId": "nobody"}),
    ("initialize", {"protocolVersion": 1, "info": INFO}),
]


async def test_acp_draft_wrong_requests_are_refused(door: Door) -> None:
    agent = await door.start()
    session = await begin(agent, door)
    for method, params in WRONG:
        given = {"sessionId": session, "cwd": str(door.root), **params}
        code = await agent.call(method, **given)
        assert code in (-32600, -32601, -32602, -32002), (method, params, code)
    assert (await turn(agent, session, "still here"))["stopReason"] == "end_turn"


BOTH: list[Json] = [
    {"protocolVersion": 2, "clientInfo": INFO, "info": INFO, "capabilities": {}},
    {"protocolVersion": 2, "clientCapabilities": {}},
    {"protocolVersion": 65535},
    {"protocolVersion": 1, "info": INFO, "capabilities": {}},
    {"protocolVersion": 0, "info": INFO, "capabilities": {}},
    {"protocolVersion": -7, "info": INFO},
    {"protocolVersion": 10**30},
]


@pytest.mark.parametrize("params", BOTH, ids=str)
async def test_acp_draft_is_not_spoken_with_a_client_that_speaks_1(
    door: Door, params: Json
) -> None:
    agent = await door.start()
    result = await agent.call("initialize", **params)
    assert result["protocolVersion"] == 1
    assert "result" in await agent.turn(await agent.new(), "hi")


@pytest.mark.parametrize("version", ["2", 2.0, None, True, [2], {}])
async def test_acp_draft_version_that_is_no_number(door: Door, version: Any) -> None:
    """It is refused, and the client may ask again."""
    agent = await door.start()
    asked = {"protocolVersion": version, "info": INFO, "capabilities": {}}
    assert await agent.call("initialize", **asked) == -32602
    session = await begin(agent, door)
    assert (await turn(agent, session, "hi"))["stopReason"] == "end_turn"


async def test_acp_draft_cancelled_before_it_shows(door: Door) -> None:
    """A prompt that waits behind another, and is cancelled there, is answered as cancelled."""
    agent = await door.start()
    session = await begin(agent, door)
    first = agent.prompt(session, [{"text": "one"}, {"until": "cancel"}])
    await agent.answer(first)
    second = agent.prompt(session, "two")
    agent.notify("session/cancel", sessionId=session)
    async with asyncio.timeout(60):
        answer = await agent.answer(second)
    assert answer.get("error", {"code": -32800})["code"] == -32800
