"""Statements about any agent: the transport and JSON-RPC, with raw bytes. Every line of every test
is held to the schema by the driver."""

import asyncio
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from rookery.processes import tree
from tests.acp.doors import Door
from tests.acp.driving import Agent, Json, alive, texts
from tests.acp.schema import FREE, check_message
from tests.acp.whole_session import HERE, SCRIPT, play_whole_session

KIB, MIB = 1 << 10, 1 << 20
LONGEST_SENT = 32 * MIB
INITIALIZE = b'{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":1}}'


async def answers_until(agent: Agent, id: Any) -> list[Json]:
    """Every message with an id up to the answer with this one."""
    seen = len(agent.lines)
    await agent.answer(id)
    return [line for line in agent.lines[seen:] if "id" in line]


async def test_every_line_of_stdout_is_one_message(door: Door, tmp_path: Path) -> None:
    """Whatever prints: the script, a child, the interpreter's warnings."""
    agent = await door.start(SCRIPT, PYTHONWARNINGS="always", PYTHONDEVMODE="1")
    await play_whole_session(agent, tmp_path)
    await agent.close()
    assert len(agent.raw) == len(agent.lines) > 30
    for line in agent.raw:
        assert line.endswith(b"\n")
        assert json.loads(line)["jsonrpc"] == "2.0"


async def test_lines_are_utf8_without_newlines(door: Door) -> None:
    """Half a surrogate pair cannot be said: a client in Rust would refuse the line."""
    agent = await door.start()
    session = await agent.begin()
    odd = "😀 \u2028\u2029\u0085\x0b\x0c\r\n\t\x00\x1f\x7f \\ud800 é"
    await agent.turn(session, odd + "\ud800 and \udc00")
    assert "".join(texts(agent.news())) == f"You said: {odd}\ufffd and \ufffd"
    for line in agent.raw:
        assert len(line.decode("utf-8").splitlines()) == 1
        json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("id", [0, 1, -7, 2**53, "", "0", "a-1", "é😀"], ids=repr)
async def test_an_answer_has_its_requests_id(door: Door, id: Any) -> None:
    agent = await door.start()
    agent.send(id=id, method="initialize", params={"protocolVersion": 1})
    good = await agent.answer(id)
    agent.send(id=id, method="session/new", params={"cwd": "relative", "mcpServers": []})
    bad = await agent.answer(id)
    for answer in (good, bad):
        assert (type(answer["id"]), answer["id"]) == (type(id), id)


async def test_an_answer_has_a_result_or_an_error(door: Door) -> None:
    agent = await door.open()
    for method in ("_x/unknown", "session/load", "session/prompt", "foo/bar", "session/set_mode"):
        answer = await agent.answer(agent.ask(method))
        assert set(answer) == {"jsonrpc", "id", "error"}
        assert type(answer["error"]["code"]) is int
        assert answer["error"]["message"]
    assert set(await agent.answer(agent.ask("session/list"))) == {"jsonrpc", "id", "result"}


async def test_notifications_get_no_answer(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    for method in (
        "initialize",
        "session/new",
        "session/prompt",
        "session/list",
        "_x/y",
        "",
        "$/z",
    ):
        agent.notify(method, protocolVersion=1, sessionId=session, prompt=[], **HERE)
    for params in (None, [1], "x", {}, {"sessionId": 4}, {"sessionId": session, "x": [None]}):
        agent.send(method="session/cancel", params=params)
    agent.send(method="session/cancel")
    agent.send(id="last", method="_x/last", params={})
    assert [line["id"] for line in await answers_until(agent, "last")] == ["last"]


async def test_unknown_methods_are_refused(door: Door) -> None:
    agent = await door.open()
    for method in ("_x/unknown", "foo/bar", "session/unheard", "", "initialize "):
        assert await agent.call(method) == -32601


async def test_unknown_notifications_are_ignored(door: Door) -> None:
    agent = await door.open()
    for method in ("_x/y", "foo/bar", "$/progress", "$/cancel_request", "session/update"):
        agent.notify(method, requestId="nothing", any=[1, {"a": None}])
    assert (await agent.turn(await agent.new(), "hi"))["result"]["stopReason"] == "end_turn"


async def test_malformed_lines_get_a_parse_error(door: Door) -> None:
    agent = await door.start()
    deep = b"[" * 100_000
    for line in (b"{oops", b"\xff\xfe", b'{"jsonrpc":', b"hello", b'{"a":NaN}', b"\x00", deep):
        agent.write(line + b"\n")
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700), line[:20]
    agent.write(b"\n  \r\n")
    assert await agent.begin()


async def test_lines_that_are_no_request_are_invalid(door: Door) -> None:
    """There are no batches: not even a good request inside of one is carried out."""
    agent = await door.start()
    batch = b"[" + INITIALIZE % b"77" + b"]"
    odd = b'{"jsonrpc":"2.0","id":{},"method":"initialize","params":{}}'
    for line in (b"[]", batch, b"null", b"42", b'"x"', b"true", b'{"foo":1}', b"{}", odd):
        agent.write(line + b"\n")
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600), line
    assert await agent.begin()
    assert agent.process.returncode is None


async def test_a_bad_request_breaks_nothing(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    methods = ("new", "load", "resume", "list", "prompt", "set_mode", "set_config_option", "close")
    for method in methods:
        for params in ([], "x", 4, {"sessionId": [1], "cwd": 4, "cursor": {}, "prompt": "x"}):
            agent.send(id=f"{method}{params}", method=f"session/{method}", params=params)
            assert "error" in await agent.answer(f"{method}{params}"), (method, params)
    for bad in ([], "text", [4], [{"type": "text"}], [{"type": "alien"}], None):
        assert await agent.call("session/prompt", sessionId=session, prompt=bad) == -32602
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    "size", [64 * KIB + 1, MIB, 10 * MIB, pytest.param(50 * MIB, marks=pytest.mark.long)]
)
async def test_long_lines_are_accepted(door: Door, size: int) -> None:
    agent = await door.start()
    session = await agent.begin()
    padding = {"padding": "x" * size}
    assert "sessions" in await agent.call("session/list", _meta=padding)
    image = {"type": "image", "mimeType": "image/png", "data": "A" * size}
    text = {"type": "text", "text": "with an image"}
    answer = await agent.answer(
        agent.ask("session/prompt", sessionId=session, prompt=[image, text])
    )
    if door.name == "player" or "result" in answer:
        assert answer["result"]["stopReason"] == "end_turn"
        assert texts(agent.news()) == ["You said: with an image"]
    else:  # it may say that a prompt is too large; it may not fail otherwise
        assert answer["error"]["code"] == -32602
        assert "larg" in answer["error"]["message"] or "long" in answer["error"]["message"]
    assert isinstance(await agent.call("session/load", sessionId=session, **HERE), dict)
    assert "result" in await agent.turn(session, "next")


@pytest.mark.long
async def test_no_line_is_too_long_for_clients(door: Door) -> None:
    """40 MB of a tool's output are cut, 40 MB of text are split; a replay too."""
    noise = "😀" * (7 * MIB // 2)  # of 12 bytes each
    output: Json = {"command": "make", "output": "x" * 40 * MIB}
    agent = await door.start({"turns": [[output, {"text": noise}]]})
    session = await agent.begin()
    assert (await agent.turn(session, "go"))["result"]["stopReason"] == "end_turn"
    said = [agent.news()]
    await agent.call("session/load", sessionId=session, **HERE)
    said.append(agent.news())
    for updates in said:
        assert hash("".join(texts(updates))) == hash(noise)  # a difference is not for eyes
    assert max(map(len, agent.raw)) < LONGEST_SENT


async def test_an_unread_stderr_blocks_nothing(door: Door) -> None:
    """The driver never does; a pipe takes 64 KiB."""
    agent = await door.start()
    session = await agent.begin()
    steps: list[Json] = [{"stderr": "x" * 999 + "\n", "repeat": 1000}, {"text": "on"}]
    assert (await agent.turn(session, steps))["result"]["stopReason"] == "end_turn"
    assert texts(agent.news()) == ["on"]
    assert await agent.close() == 0


async def test_the_agent_ends_with_its_stdin(door: Door) -> None:
    """With a turn in flight that hears nothing. A session's worker goes on."""
    agent = await door.start()
    session = await agent.begin()
    id = agent.prompt(session, [{"deaf": True}, {"text": "on"}, {"wait": 600}])
    await agent.until(lambda line: "on" in str(line))
    own = [row for row in tree.table() if row.group == agent.process.pid]
    agent.hang_up()
    async with asyncio.timeout(120):  # far less than the turn would take
        assert await agent.process.wait() == 0
    await agent.rest()
    assert not await asyncio.to_thread(tree.wait_gone, own, 60)
    if door.name == "player":
        assert agent.lines[-1]["id"] == id
        assert agent.lines[-1]["result"] == {"stopReason": "cancelled"}
    else:
        [worker] = door.workers()
        assert alive(worker["pid"])
        assert alive(worker["agentPid"])


async def test_a_last_line_without_newline_is_answered(door: Door) -> None:
    agent = await door.start()
    agent.asked[0] = "initialize"
    agent.write(INITIALIZE % b"0")
    assert await agent.close() == 0
    assert agent.lines[-1]["result"]["protocolVersion"] == 1


def fields(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of the protocol with its value, at any depth."""
    if isinstance(value, dict) and key not in FREE:
        for name, item in value.items():
            yield name, item
            yield from fields(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from fields(item, key)


PLAYED: dict[str, tuple[list[Json], Json]] = {}
"""By way in: what was said in a whole session, and the methods that were asked, by id."""


async def played(door: Door, cwd: Path) -> tuple[list[Json], Json]:
    """One is enough for all that is said of its lines."""
    if door.name not in PLAYED:
        agent = await door.start(SCRIPT)
        await play_whole_session(agent, cwd)
        PLAYED[door.name] = (agent.lines[:], dict(agent.asked))
    return PLAYED[door.name]


async def test_keys_and_discriminators_are_spelled_as_in_acp(door: Door, tmp_path: Path) -> None:
    """camelCase keys, snake_case words; `_meta` is taken wherever it may stand."""
    lines, _ = await played(door, tmp_path)
    agent = await door.start(SCRIPT)
    words = {"sessionUpdate", "type", "kind", "status", "stopReason", "priority"}
    for line in lines:
        for key, value in fields(line):
            assert re.fullmatch(r"_meta|[a-z][a-zA-Z0-9]*", key), key
            if key in words and value != {}:  # of a capability
                assert re.fullmatch(r"[a-z][a-z0-9_]*", value), (key, value)
    meta: Json = {"_meta": {"ours": {"a": [1]}}}
    offered = {"fs": {"readTextFile": False, **meta}, **meta}
    client = {"name": "test", "version": "1", **meta}
    await agent.call("initialize", protocolVersion=1, clientInfo=client, clientCapabilities=offered)
    servers = [{"name": "m", "command": "/bin/true", "args": [], "env": [], **meta}]
    new = await agent.call("session/new", cwd="/tmp", mcpServers=servers, **meta)
    link = {"type": "resource_link", "uri": "file:///x", "name": "x", **meta}
    blocks = [{"type": "text", "text": "hi", **meta, "annotations": {"priority": 1, **meta}}, link]
    params: Json = {"sessionId": new["sessionId"], **meta}
    assert "stopReason" in await agent.call("session/prompt", prompt=blocks, **params)
    assert "sessions" in await agent.call("session/list", **meta)
    assert await agent.call("session/close", **params) == {}


async def test_no_fields_outside_the_schema(door: Door, tmp_path: Path) -> None:
    """The driver compares every line's keys with the schema's; here is that it does so."""
    lines, asked = await played(door, tmp_path)
    for line in deepcopy(lines):
        where = line.get("params", {}).get("update") or line.get("result") or line.get("error")
        check_message(line, asked.get(line.get("id")) if "method" not in line else None)
        if where:
            where["timestamp"] = 1
            with pytest.raises(AssertionError, match="timestamp"):
                check_message(line, asked.get(line["id"]) if "id" in line else None)


async def test_custom_methods_begin_with_an_underscore(door: Door, tmp_path: Path) -> None:
    lines, _ = await played(door, tmp_path)
    known = {"session/update", "session/request_permission"}
    used = {line["method"] for line in lines if "method" in line}
    assert known <= used
    assert all(method in known or method.startswith(("_", "$/")) for method in used)


async def test_meta_overrides_no_parameter(door: Door) -> None:
    agent = await door.open()
    evil = {"cwd": "/evil", "sessionId": "x", "session_id": "x", "prompt": "x", "modeId": "x"}
    session = (await agent.call("session/new", **HERE, _meta=evil))["sessionId"]
    blocks = [{"type": "text", "text": "good", "_meta": {"text": "evil", "type": "image"}}]
    await agent.call("session/prompt", sessionId=session, prompt=blocks, _meta=evil)
    assert texts(agent.news(session)) == ["You said: good"]
    await agent.turn(session, [{"text": "$cwd"}])
    assert texts(agent.news(session)) == ["/tmp"]
    assert [entry["cwd"] for entry in (await agent.call("session/list"))["sessions"]] == ["/tmp"]
