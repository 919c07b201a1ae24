"""Logins through the door: its own method, those of the agent behind it, and its errors."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.wire.greeting import LOGIN, TERMINAL_LOGIN
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json
from tests.acp.whole_session import HERE

AGENT = Path(__file__).parents[1] / "rigs" / "login_agent.py"


@pytest.fixture(params=["status"])
async def nest(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Door]:
    """A home whose default agent wants a login."""
    door = Door(BRIDGE, home, tmp_path)
    argv = [sys.executable, "-P", str(AGENT), str(tmp_path / "state"), request.param]
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        f'default_agent = "nest"\n[agents.nest]\ncommand = {argv!r}\n'
    )
    yield door
    await door.end()


async def opened(door: Door, **capabilities: Json) -> tuple[Agent, Json]:
    agent = await Agent.start([sys.executable, "-m", "rookery", "acp"])
    door.started.append(agent)
    said = await agent.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
    return agent, said


async def test_the_door_offers_a_method_of_its_own_as_the_registry_asks(nest: Door) -> None:
    agent, said = await opened(nest)
    assert [each["id"] for each in said["authMethods"]] == [LOGIN]
    assert "type" not in said["authMethods"][0]  # which means: agent
    again = await agent.call(
        "initialize", protocolVersion=1, clientCapabilities={"auth": {"terminal": True}}
    )
    assert [each["id"] for each in again["authMethods"]] == [LOGIN, TERMINAL_LOGIN]
    assert again["authMethods"][1]["args"] == ["--login"]
    assert await agent.call("authenticate", methodId=LOGIN) == {}
    assert await agent.call("authenticate", methodId="eggs") == -32602
    assert await agent.call("authenticate", methodId="eggs/browser") == -32602


async def test_a_missing_login_is_an_error_with_the_agents_methods(nest: Door) -> None:
    agent, _ = await opened(nest)
    assert await agent.call("auth/status") == {"state": "unknown"}
    error = (await agent.answer(agent.ask("session/new", **HERE)))["error"]
    assert error["code"] == -32000
    assert "rookery agents login nest" in error["message"]
    ids = [each["id"] for each in error["data"]["authMethods"]]
    assert ids == ["nest/browser", "nest/key", "nest/tty"]
    assert await agent.call("auth/status") == {"state": "unauthenticated"}
    assert await agent.call("authenticate", methodId=LOGIN) == -32000
    assert await agent.call("authenticate", methodId="nest/tty") == -32602
    assert await agent.call("authenticate", methodId="nest/browser") == {}
    known = await agent.call("auth/status")
    assert known == {
        "state": "authenticated",
        "accounts": [{"label": "Nest Pro", "active": True}],
    }
    assert (await agent.call("session/new", **HERE))["sessionId"]
    assert await agent.call("authenticate", methodId=LOGIN) == {}


@pytest.mark.parametrize("nest", ["late"], indirect=True)
async def test_a_prompt_without_a_login_is_an_error_with_the_agents_methods(nest: Door) -> None:
    agent, _ = await opened(nest)
    made = await agent.call("session/new", **HERE)
    error = (await agent.turn(made["sessionId"], "hello"))["error"]
    assert error["code"] == -32000
    assert "rookery agents login nest" in error["message"]
    ids = [each["id"] for each in error["data"]["authMethods"]]
    assert ids == ["nest/browser", "nest/key", "nest/tty"]
    assert await agent.call("authenticate", methodId="nest/browser") == {}
