"""Our own agent logs in to MCP servers by OAuth: the user gets the address, never the agent a
browser; the login is kept, refreshed and shared."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from rookery.client.login import servers as logins
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, calls, connected, shown, stop_reason
from tests.rigs.oauth_server import OAuthServer, browse

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Json = dict[str, Any]

USE: list[Json] = [{"call": {"name": "mcp__aviary__count_birds", "arguments": {}}}, {"text": "ok"}]


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    made = OAuthServer()
    yield made
    made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def client(agent_home: Path) -> AsyncIterator[Agent]:
    """One that opens addresses."""
    agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    offered = {"elicitation": {"url": {}}}
    await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
    allow_all(agent)
    yield agent
    await agent.kill()


async def opened(agent: Agent, cwd: Path, server: OAuthServer) -> str:
    given = {"type": "http", "name": "aviary", "url": server.url, "headers": []}
    made = await agent.call("session/new", cwd=str(cwd), mcpServers=[given])
    return str(made["sessionId"])


async def first(agent: Agent, wanted: Callable[[Json], bool]) -> Json:
    """Also of what came during a turn."""
    found = next(filter(wanted, agent.lines), None)
    return found if found is not None else await agent.until(wanted)


async def link_of(agent: Agent) -> Json:
    return await first(agent, lambda line: line.get("method") == "elicitation/create")


async def counts(agent: Agent, session: str) -> None:
    await connected(agent, session, "aviary")
    assert stop_reason(await agent.turn(session, USE)) == "end_turn"
    assert "17 birds" in shown(calls(agent.news(session))[-1])


async def test_the_user_logs_in_once_and_the_login_is_refreshed(
    client: Agent, agent_home: Path, model: ScriptedModel, server: OAuthServer, tmp_path: Path
) -> None:
    session = await opened(client, tmp_path, server)
    assert stop_reason(await client.turn(session, "hello")) == "end_turn", "nothing waits for it"
    link = await link_of(client)
    params = link["params"]
    assert (params["mode"], params["sessionId"]) == ("url", session)
    assert params["url"].startswith(f"{server.base}/authorize?")
    assert "aviary" in params["message"]
    assert "successful" in await asyncio.to_thread(browse, params["url"])
    done = await first(client, lambda line: line.get("method") == "elicitation/complete")
    assert done["params"]["elicitationId"] == params["elicitationId"]
    client.send(id=link["id"], result={"action": "accept"})
    await counts(client, session)
    home = str(agent_home)
    assert logins.is_logged_in(home, server.url)
    assert os.stat(logins.path(home, server.url)).st_mode & 0o777 == 0o600
    server.lives = 1  # what is issued next expires at once
    server.expire()
    held = logins.read(home, server.url)
    logins.write(home, server.url, {**held, "expiry": 1.0})
    second = await opened(client, tmp_path, server)
    await counts(client, second)
    assert "refresh_token" in server.grants
    assert logins.read(home, server.url)["tokens"] != held["tokens"]
    said = str(client.lines)
    issued = [each for each in server.issued if each in said]
    assert issued == [], "no token and no code is told to anybody"


async def test_whoever_declines_is_not_asked_again(
    client: Agent, agent_home: Path, model: ScriptedModel, server: OAuthServer, tmp_path: Path
) -> None:
    session = await opened(client, tmp_path, server)
    await client.turn(session, "hello")
    link = await link_of(client)
    client.send(id=link["id"], result={"action": "decline"})
    await first(client, lambda line: "rookery mcp login aviary" in str(line))
    assert not logins.is_logged_in(str(agent_home), server.url)


async def test_a_client_without_links_is_told_what_to_do(
    agent: Agent, model: ScriptedModel, server: OAuthServer, tmp_path: Path
) -> None:
    session = await opened(agent, tmp_path, server)
    await agent.turn(session, "hello")
    await first(agent, lambda line: "it needs a login: rookery mcp login aviary" in str(line))
