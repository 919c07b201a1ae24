"""MCP servers of the editor that are reached over ACP, through the door."""

import shutil
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from tests.acp.bridging import NOTICES, is_call
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json
from tests.agent.conftest import SCRIPT, write_settings
from tests.agent.driving import allow_all, run, stop_reason
from tests.agent.test_mcp_over_acp import Nest
from tests.agent.test_mcp_servers import offered, use

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


CONNECT = "import socket; socket.create_connection(('127.0.0.1', {}), 5); print('rea' + 'ched')"


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_our_own_agent_calls_the_editors_tool_from_a_sandbox_without_network(
    bridge: Door, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command beside it shows that there is no way to a port of this machine's."""
    (tmp_path / "person").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    with serving(SCRIPT) as model, socket.create_server(("127.0.0.1", 0)) as listener:
        write_settings(home, model)
        lines = ["[agent]", "warm = false", "[worker]", "start_timeout = 300"]
        lines += ["[sandbox]", 'kind = "bwrap"', 'network = "off"', ""]
        (home / "config.toml").write_text("\n".join(lines))
        editor = await bridge.start_own("--agent", "rookery")
        nest, asked = Nest(editor), allow_all(editor)
        await editor.call("initialize", protocolVersion=1, clientCapabilities=NOTICES)
        made = await editor.call(
            "session/new", cwd=str(tmp_path / "work"), mcpServers=[nest.declared()]
        )
        code = CONNECT.format(listener.getsockname()[1])
        steps = [
            use("mcp__nest__hatch", "owl"),
            run(f'{sys.executable} -c "{code}" 2>&1; readlink /proc/self/ns/net'),
            {"text": "ok"},
        ]
        assert stop_reason(await editor.turn(made["sessionId"], steps)) == "end_turn"
        assert "mcp__nest__hatch" in offered(model)
        results = [each for each in model.asked[-1].body["messages"] if each["role"] == "tool"]
    assert [each["method"] for each in nest.asked].count("tools/call") == 1
    assert asked
    called, ran = (str(each["content"]) for each in results)
    assert "hatched owl" in called
    assert "Connection refused" in ran
    assert "reached" not in ran
    assert "net:[" in ran
    assert str(Path("/proc/self/ns/net").readlink()) not in ran
