"""MCP servers that the client provides over ACP: our own agent uses them without a port."""

import asyncio
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.wire import mcp
from tests.acp.driving import PATIENCE, Agent, Json
from tests.agent.driving import allow_all, connected, stop_reason, words
from tests.agent.test_mcp_servers import offered, opened, use

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCHEMA: Json = {"type": "object", "properties": {"word": {"type": "string"}}}


class Nest:
    """A server of the client's, of MCP 2026-07-28."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.asked: list[Json] = []
        self.tools = ["hatch"]
        agent.answers["mcp/message"] = self.serve

    def declared(self, name: str = "nest") -> Json:
        return {"type": "acp", "name": name, "serverId": f"{name}-1"}

    def serve(self, params: Json) -> Json | None:
        self.asked.append(params)
        match params["method"]:
            case "server/discover":
                about = {mcp.SERVER: {"name": "nest", "version": "1"}}
                can = {"tools": {"listChanged": True}}
                found = {"supportedVersions": [mcp.VERSION], "capabilities": can, "_meta": about}
                return {"result": {"resultType": "complete", **found}}
            case "tools/list":
                listed = [{"name": name, "inputSchema": SCHEMA} for name in self.tools]
                return {"result": {"resultType": "complete", "tools": listed}}
            case "tools/call":
                return self.call(params)
            case _:  # a subscription lasts
                return None

    def call(self, params: Json) -> Json | None:
        word = params["params"]["arguments"].get("word", "")
        if word == "refuse":
            return {"error": {"code": -32602, "message": "no eggs"}}
        if word == "ask":
            return {"result": {"resultType": "input_required", "requestState": "x"}}
        if word == "hang":
            return None
        if word == "grow":
            self.tools.append("brood")
            listening = next(each for each in self.asked if each["method"] == mcp.SUBSCRIBE)
            about = {key: listening[key] for key in ("serverId", "requestId")}
            note = {**about, "method": "notifications/tools/list_changed"}
            self.agent.send(method="mcp/message", params=note)
        text = {"type": "text", "text": f"hatched {word}"}
        return {"result": {"resultType": "complete", "content": [text]}}


async def test_its_tools_are_called_over_the_connection_that_is_there(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    allow_all(agent)
    nest = Nest(agent)
    session = await opened(agent, tmp_path, nest.declared())
    await connected(agent, session, "nest")
    agent.news()
    steps = [
        use("mcp__nest__hatch", "owl"),
        use("mcp__nest__hatch", "refuse"),
        use("mcp__nest__hatch", "ask"),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    assert "mcp__nest__hatch" in offered(model)
    said = str(agent.news(session))
    assert "hatched owl" in said
    assert "no eggs" in said
    assert "asks for more input" in said
    call = next(each for each in nest.asked if each["method"] == "tools/call")
    assert call["serverId"] == "nest-1"
    assert call["params"]["_meta"][mcp.PROTOCOL] == mcp.VERSION
    ids = [each["requestId"] for each in nest.asked]
    assert len(set(ids)) == len(ids)


async def test_tools_that_the_server_adds_later(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    allow_all(agent)
    nest = Nest(agent)
    session = await opened(agent, tmp_path, nest.declared())
    await connected(agent, session, "nest")
    await agent.turn(session, [use("mcp__nest__hatch", "grow"), {"text": "ok"}])
    async with asyncio.timeout(PATIENCE):
        while "mcp__nest__brood" not in offered(model):
            await agent.turn(session, "again")


async def test_a_call_that_is_cancelled_is_taken_back(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    nest = Nest(agent)
    session = await opened(agent, tmp_path, nest.declared())
    await connected(agent, session, "nest")
    turn = agent.prompt(session, [use("mcp__nest__hatch", "hang")])
    call = await agent.until(
        lambda line: (
            line.get("method") == "mcp/message" and line["params"]["method"] == "tools/call"
        )
    )
    agent.notify("session/cancel", sessionId=session)
    taken = await agent.until(
        lambda line: (
            line.get("method") == "$/cancel_request" and line["params"]["requestId"] == call["id"]
        )
    )
    assert taken
    assert stop_reason(await agent.answer(turn)) == "cancelled"


async def test_a_server_that_the_client_does_not_have_costs_its_tools_only(
    agent: Agent, tmp_path: Path
) -> None:
    session = await opened(agent, tmp_path, Nest(agent).declared("gone"))
    agent.answers["mcp/message"] = lambda _: Exception(mcp.UNAVAILABLE, "no such server")
    assert stop_reason(await agent.turn(session, "hello")) == "end_turn"
    await agent.turn(session, "/mcp")
    assert "no such server" in words(agent.news(session))
