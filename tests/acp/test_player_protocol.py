"""The player as an ACP agent: transport, initialize, sessions. Each test names what it shows."""

import asyncio
import json
from typing import Any

import pytest

from tests.acp.conftest import Start
from tests.acp.driving import texts

MODES = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
OPTIONS = [
    {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
    },
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "small", "name": "S"}]},
            {"group": "h", "name": "H", "options": [{"value": "big", "name": "B"}]},
        ],
    },
    {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False},
]


async def test_initialize(start: Start) -> None:
    """acp-I1 to I6: own version, never an echo; twice is fine; no capabilities is fine."""
    agent = await start()
    for version, extra in ((1, {}), (65535, {"info": {"name": "x"}}), (1, {})):
        result = await agent.call("initialize", protocolVersion=version, **extra)
        assert result["protocolVersion"] == 1
        assert set(result["agentInfo"]) >= {"name", "version"}
        assert result["authMethods"] == []
    assert (await agent.call("session/new", cwd="/", mcpServers=[]))["sessionId"]


async def test_nothing_before_initialize(start: Start) -> None:
    """acp-I7"""
    agent = await start()
    assert await agent.call("session/new", cwd="/", mcpServers=[]) == -32600
    assert await agent.begin()


async def test_noise_and_bad_requests(start: Start) -> None:
    """acp-T5 to T10: each is answered as it should be, and the connection stays usable."""
    agent = await start()
    for line, code in ((b"{oops", -32700), (b"[]", -32600), (b"null", -32600), (b'"x"', -32600)):
        agent.write(line + b"\n")
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
    agent.notify("_x/unknown")
    agent.notify("session/cancel", sessionId="nobody")
    agent.notify("session/cancel", wrong=1)
    agent.send(method="session/cancel", params=[1])
    assert await agent.call("_x/unknown") == -32601
    session = await agent.begin()
    agent.send(id="s", method="session/prompt", params="not an object")
    assert (await agent.answer("s"))["error"]["code"] == -32602
    for bad in ([], "text", [4], [{"type": "text"}], [{"type": "alien"}]):
        assert await agent.call("session/prompt", sessionId=session, prompt=bad) == -32602
    assert (await agent.turn(session, "hi"))["result"] == {"stopReason": "end_turn"}


async def test_large_lines(start: Start) -> None:
    """acp-T11: an image of 10 MB arrives; acp-T2: text beyond the basic plane comes back."""
    agent = await start()
    session = await agent.begin()
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 10_000_000}
    text = {"type": "text", "text": "😀\u2028"}
    await agent.call("session/prompt", sessionId=session, prompt=[image, text])
    assert texts(agent.news()) == ["You said: 😀\u2028"]


async def test_last_line_without_newline(start: Start) -> None:
    """acp-T15"""
    agent = await start()
    agent.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}')
    assert await agent.close() == 0
    assert agent.lines[-1]["result"]["protocolVersion"] == 1


async def test_unread_stderr_blocks_nothing(start: Start) -> None:
    """acp-T13; acp-T1: a stray print does not reach the protocol."""
    agent = await start()
    session = await agent.begin()
    steps: list[Any] = [{"stderr": "x" * 1000, "repeat": 1000}, {"print": "hello"}, {"text": "on"}]
    assert "result" in await agent.turn(session, steps)


async def test_end_of_stdin(start: Start) -> None:
    """acp-T14: with a turn in flight, it is answered, and the process ends by itself."""
    agent = await start()
    session = await agent.begin()
    id = agent.prompt(session, [{"deaf": True}, {"text": "on"}, {"wait": 600}])
    await agent.until(lambda line: "on" in str(line))
    assert await agent.close() == 0
    assert agent.lines[-1] == {"jsonrpc": "2.0", "id": id, "result": {"stopReason": "cancelled"}}


async def test_meta_never_overrides(start: Start) -> None:
    """acp-T19"""
    agent = await start()
    await agent.call("initialize", protocolVersion=1)
    evil = {"cwd": "relative", "sessionId": "x", "prompt": "x"}
    made = await agent.call("session/new", cwd="/tmp", mcpServers=[], _meta=evil)
    blocks = [{"type": "text", "text": "$cwd $prompt", "_meta": evil}]
    await agent.call("session/prompt", sessionId=made["sessionId"], prompt=blocks, _meta=evil)
    assert (await agent.call("session/list"))["sessions"][0]["cwd"] == "/tmp"


async def test_session_new(start: Start) -> None:
    """acp-S1, S2, S5: distinct ids, absolute paths, no update before the answer."""
    agent = await start({"agent": {"commands": [{"name": "go", "description": "Go"}]}})
    one, two = await agent.begin(), await agent.begin()
    assert one != two
    assert await agent.call("session/new", cwd="here", mcpServers=[]) == -32602
    assert await agent.call("session/new", cwd="/", mcpServers=None) == -32602
    seen = [json.dumps(line) for line in agent.lines]
    named = next(n for n, line in enumerate(seen) if "result" in line and one in line)
    assert not [line for line in seen[:named] if one in line]
    assert [line for line in seen[named:] if one in line and "available_commands" in line]


async def test_authentication(start: Start) -> None:
    """acp-I8 to I11"""
    methods = [
        {"id": "key", "name": "Key"},
        {"id": "tty", "name": "Log in", "type": "terminal", "args": ["login"]},
    ]
    capabilities = {"auth": {"logout": {}}}
    script = {"authMethods": methods, "authRequired": True, "capabilities": capabilities}
    agent = await start({"agent": script})
    plain = await agent.call("initialize", protocolVersion=1)
    assert [method["id"] for method in plain["authMethods"]] == ["key"]
    offered = {"auth": {"terminal": True}}
    both = await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
    assert [method["id"] for method in both["authMethods"]] == ["key", "tty"]
    new: dict[str, Any] = {"cwd": "/", "mcpServers": []}
    assert await agent.call("session/new", **new) == -32000
    assert await agent.call("authenticate", methodId="nope") == -32602
    assert await agent.call("authenticate", methodId="key") == {}
    assert "sessionId" in await agent.call("session/new", **new)
    assert await agent.call("logout") == {}
    assert await agent.call("session/new", **new) == -32000


async def test_what_is_not_advertised_does_not_exist(start: Start) -> None:
    """acp-P3, acp-I11"""
    without = {"loadSession": None, "promptCapabilities": {"image": False, "audio": None}}
    agent = await start({"agent": {"capabilities": without}})
    session = await agent.begin()
    for method in ("logout", "session/load", "session/fork"):
        assert await agent.call(method, sessionId=session) == -32601
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    image = {"type": "image", "mimeType": "image/png", "data": ""}
    audio = {"type": "audio", "mimeType": "audio/wav", "data": ""}
    resource = {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}}
    for block, taken in ((link, True), (image, False), (audio, False), (resource, True)):
        answer = await agent.call("session/prompt", sessionId=session, prompt=[block])
        assert (answer == -32602) is not taken


async def test_modes_and_options(start: Start) -> None:
    """acp-S20 to S24: complete lists, in sync both ways, also while a turn runs."""
    agent = await start({"agent": {"modes": MODES, "configOptions": OPTIONS}})
    await agent.call("initialize", protocolVersion=1)
    made = await agent.call("session/new", cwd="/", mcpServers=[])
    session = made["sessionId"]
    assert made["modes"]["currentModeId"] == "ask"
    assert [option["id"] for option in made["configOptions"]] == ["mode", "model"]
    running = agent.prompt(session, [{"until": "cancel"}])
    assert await agent.call("session/set_mode", sessionId=session, modeId="code") == {}
    told = {update["sessionUpdate"]: update for update in agent.news()}
    assert told["current_mode_update"]["currentModeId"] == "code"
    assert told["config_option_update"]["configOptions"][0]["currentValue"] == "code"
    option = {"sessionId": session, "configId": "mode", "value": "ask"}
    full = (await agent.call("session/set_config_option", **option))["configOptions"]
    assert [entry["currentValue"] for entry in full] == ["ask", "small"]
    assert agent.news()[-1] == {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}
    option = {"sessionId": session, "configId": "model", "value": "big"}
    full = (await agent.call("session/set_config_option", **option))["configOptions"]
    assert full[1]["currentValue"] == "big"
    option["value"] = "none"
    assert await agent.call("session/set_config_option", **option) == -32602
    assert await agent.call("session/set_mode", sessionId=session, modeId="none") == -32602
    agent.notify("session/cancel", sessionId=session)
    await agent.answer(running)
    loaded = await agent.call("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert loaded["configOptions"][1]["currentValue"] == "big"


async def test_boolean_options_need_the_capability(start: Start) -> None:
    """acp-S22"""
    agent = await start({"agent": {"configOptions": OPTIONS}})
    session = {"configOptions": {"boolean": {}}}
    await agent.call("initialize", protocolVersion=1, clientCapabilities={"session": session})
    made = await agent.call("session/new", cwd="/", mcpServers=[])
    assert made["configOptions"][2]["type"] == "boolean"
    option = {"sessionId": made["sessionId"], "configId": "loud", "value": True}
    full = (await agent.call("session/set_config_option", **option))["configOptions"]
    assert full[2]["currentValue"] is True


START: list[tuple[dict[str, Any], list[Any]]] = [
    ({"initialize_error": {"code": 7, "message": "no"}}, [7]),
    ({"version": "echo"}, [99]),
    ({"version": 3}, [3]),
    ({"new_error": {"code": -32000, "message": "log in"}}, [1, -32000]),
    ({"load_error": "gone"}, [1, "ok", -32603]),
    ({"crash": {"code": 3}, "stderr": "dying"}, [EOFError]),
    ({"crash_on": "session/new", "crash": {"signal": "SIGKILL"}}, [1, EOFError]),
    ({"wait": 0.01, "raw": "a banner"}, [1]),
]


@pytest.mark.parametrize(("knobs", "expected"), START, ids=lambda value: str(value)[:40])
async def test_failures_of_the_handshake(
    start: Start, knobs: dict[str, Any], expected: list[Any]
) -> None:
    """What a worker must live with at each point: rows A2, A5, A6."""
    agent = await start({"start": knobs}, strict=False)
    seen: list[Any] = []
    session = "?"
    for method in ("initialize", "session/new", "session/load"):
        params: dict[str, Any] = {"cwd": "/", "mcpServers": [], "protocolVersion": 99}
        try:
            result = await agent.call(method, sessionId=session, **params)
        except EOFError:
            seen.append(EOFError)
            break
        if isinstance(result, dict):
            session = result.get("sessionId", session)
            result = result.get("protocolVersion", "ok")
        seen.append(result)
    assert seen[: len(expected)] == expected
    if "crash" in knobs:
        assert await agent.process.wait() == (3 if "code" in knobs["crash"] else -9)


async def test_mischief_for_some_starts_only(start: Start) -> None:
    """Row A6: an agent that dies at its first two starts, and then does not."""
    for attempt in range(3):
        agent = await start({"start": {"crash": 1, "times": 2}})
        if attempt < 2:
            assert await agent.process.wait() == 1
    assert await agent.begin()


async def test_updates_before_the_answer(start: Start) -> None:
    """acp-C3: what a client has to buffer."""
    agent = await start({"start": {"before_answer": [{"usage": 1}], "silence": "session/list"}})
    await agent.begin()
    assert "usage_update" in str(agent.lines[-2])
    agent.ask("session/list")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await agent.read()
