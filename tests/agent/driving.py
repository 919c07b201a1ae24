"""What the tests of the agent say to it, and what they look for in what it says."""

import asyncio
from pathlib import Path
from typing import Any

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import PATIENCE, Agent, Json

ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow-once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "reject"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def run(command: str, **more: Any) -> Json:
    """A turn of the model's in which it runs a command."""
    return {"call": {"name": "terminal", "arguments": {"command": command, **more}}}


def edit(path: Path, text: str) -> Json:
    arguments = {"command": "create", "path": str(path), "file_text": text}
    return {"call": {"name": "file_editor", "arguments": arguments}}


def allow_all(agent: Agent) -> list[Json]:
    """Say yes to every permission; what was asked for is in the list."""
    return answer_all(agent, ALLOW)


def answer_all(agent: Agent, answer: Any) -> list[Json]:
    asked: list[Json] = []

    def serve(params: Json) -> Any:
        asked.append(params)
        return answer

    agent.answers["session/request_permission"] = serve
    return asked


def calls(updates: list[Json]) -> list[Json]:
    """Each call as it ended."""
    found: dict[str, Json] = {}
    for update in updates:
        if "toolCallId" in update:
            found.setdefault(update["toolCallId"], {}).update(update)
    return list(found.values())


def words(updates: list[Json], kind: str = "agent_message_chunk") -> str:
    return "".join(u["content"].get("text", "") for u in updates if u["sessionUpdate"] == kind)


def shown(call: Json) -> str:
    """The text of a call's content."""
    parts = [part for part in call.get("content") or [] if part["type"] == "content"]
    return "".join(part["content"].get("text", "") for part in parts)


async def tool_of_server(agent: Agent, model: ScriptedModel, session: str, ending: str) -> str:
    """What the model knows a server's tool by. A prompt waits only a moment for a server's start,
    so it takes as many as the machine's load makes it take."""
    while True:
        await agent.turn(session, "what is there?")
        tools = [tool["function"]["name"] for tool in model.asked[-1].body["tools"]]
        if found := [tool for tool in tools if tool.endswith(ending)]:
            [name] = found
            return str(name)


async def permission(agent: Agent) -> Json:
    """The next request for one."""
    return await agent.until(lambda line: line.get("method") == "session/request_permission")


async def status(agent: Agent, wanted: str) -> Json:
    """The next update in which a call has that status."""
    line = await agent.until(
        lambda line: line.get("params", {}).get("update", {}).get("status") == wanted
    )
    return line["params"]["update"]


def stop_reason(answer: Json) -> str:
    assert "result" in answer, answer
    return str(answer["result"]["stopReason"])


async def connected(agent: Agent, session: str, *servers: str) -> None:
    """Until the tools of these MCP servers are there. A prompt waits for them a moment; on a busy
    machine they come after it."""
    await agent.turn(session, "hello")
    async with asyncio.timeout(PATIENCE):
        while True:
            await agent.turn(session, "/mcp")
            said = words(agent.news(session))
            if all(f"{server}: `" in said for server in servers):
                return
