"""MCP servers that clash, are slow, change their tools, or are cancelled."""

import asyncio
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.mcp.names import FILE, MAX_NAME_LENGTH, Names
from rookery.agent.scripted.server import ScriptedModel
from rookery.home import mcp
from tests.acp.driving import PATIENCE, Agent
from tests.agent.driving import allow_all, calls, connected, shown, stop_reason, words
from tests.agent.test_judgement import ruled

__all__ = ["ruled"]

type Json = dict[str, Any]

SERVER = """
import json, os, sys, time

name, log = sys.argv[1], sys.argv[2]
tools = sys.argv[3].split(",")
with open(log.replace(".log", ".pid"), "w") as file:
    file.write(str(os.getpid()))
pending = {}

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def note(word):
    with open(log, "a") as file:
        print(word, file=file)

while len(sys.argv) > 4 and not os.path.exists(sys.argv[4]):
    time.sleep(0.02)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        about = {"protocolVersion": message["params"]["protocolVersion"]}
        about |= {"capabilities": {"tools": {"listChanged": True}}}
        say(id=id, result={**about, "serverInfo": {"name": name, "version": "1"}})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}}
        listed = [{"name": tool, "description": tool, "inputSchema": schema} for tool in tools]
        say(id=id, result={"tools": listed})
    elif method == "tools/call":
        tool, word = message["params"]["name"], message["params"]["arguments"].get("word", "")
        if word == "hang":
            note(f"hangs {id}")
        else:
            if word == "grow":
                tools.append("grown")
                say(method="notifications/tools/list_changed")
            text = {"type": "text", "text": f"{name} {tool} {word}"}
            say(id=id, result={"content": [text]})
    elif method == "notifications/cancelled":
        note(f"cancelled {message['params']['requestId']}")
    elif id is not None:
        say(id=id, result={})
"""


def server(folder: Path, name: str, tools: str, *more: str) -> Json:
    (folder / "server.py").write_text(SERVER)
    log = folder / f"{name}.log"
    log.touch()
    args = ["-S", str(folder / "server.py"), name, str(log), tools, *more]
    return {"name": name, "command": sys.executable, "args": args, "env": []}


async def opened(agent: Agent, cwd: Path, *servers: Json) -> str:
    made = await agent.call("session/new", cwd=str(cwd), mcpServers=list(servers))
    return str(made["sessionId"])


def offered(model: ScriptedModel) -> list[str]:
    return [tool["function"]["name"] for tool in model.asked[-1].body["tools"]]


def use(tool: str, word: str) -> Json:
    return {"call": {"name": tool, "arguments": {"word": word}}}


# --- names ---------------------------------------------------------------------------------------


SERVERS = {
    "a": ["find", "b__c", "x" * 70],
    "a__b": ["c"],
    "a_": ["b"],
    "é": ["find"],
    "ö": ["find"],
}


def test_a_name_does_not_depend_on_who_answers_first(tmp_path: Path) -> None:
    given: list[Json] = []
    for number, order in enumerate(itertools.permutations(SERVERS)):
        folder = tmp_path / str(number)
        folder.mkdir()
        names = Names(str(folder))
        given.append({server: names.give(server, SERVERS[server]) for server in order})
        for server in order:  # `a` has none of those of `a__b`
            assert names.given(server) == [*given[-1][server].values()]
        again = Names(str(folder))  # after a restart, in which they answer the other way round
        assert {server: again.give(server, SERVERS[server]) for server in order[::-1]} == given[-1]
    assert given[0]["a"]["find"] == "mcp__a__find"
    assert all(each == given[0] for each in given)
    names_of_all = [name for each in given[0].values() for name in each.values()]
    assert len({*names_of_all}) == 7


def test_a_conversation_keeps_the_names_of_an_earlier_build(tmp_path: Path) -> None:
    """Which gave the plain name if it was free: the calls in its history have it."""
    kept = {"find": "mcp__b__find", "mcp__a__find": "mcp__a__find", "git": "mcp__a__git"}
    (tmp_path / FILE).write_text(json.dumps(kept))
    names = Names(str(tmp_path))
    assert names.give("a", ["find", "git", "new"], {"git"}) == {
        "find": "mcp__a__find",
        "git": "mcp__a__git",  # a tool of ours has the other one now
        "new": "mcp__a__new",
    }
    assert names.give("b", ["find", "git"]) == {"find": "find", "git": "mcp__b__git"}


def test_every_provider_takes_the_names(tmp_path: Path) -> None:
    names = Names(str(tmp_path))
    long = "x" * 80
    given = {*names.give("my.server/é", ["a b", "a_b", long, f"{long}y", ""]).values()}
    given |= {*names.give("b", [long]).values()}
    assert len(given) == 6
    for name in given:
        assert len(name) <= MAX_NAME_LENGTH
        assert all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name)


def test_a_timeout_of_a_server() -> None:
    """In seconds; what cannot be meant so is milliseconds, as other programs write it."""
    assert mcp.timeout_of({"timeout": 5}) == 5.0
    assert mcp.timeout_of({"timeout": 30_000}) == 30.0
    assert mcp.timeout_of({}) is None
    [bad] = mcp.listed({"a": {"command": "x", "timeout": "soon"}})
    assert "timeout" in bad.fault


# --- with real servers ---------------------------------------------------------------------------


@pytest.mark.asyncio(loop_scope="session")
async def test_one_tool_name_of_two_servers_and_a_tool_called_think(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Each is called by a name of its own, and told as `mcp__server__tool`, after a load too."""
    allow_all(agent)
    both = server(tmp_path, "left", "find,think"), server(tmp_path, "right", "find,solo")
    session = await opened(agent, tmp_path, *both)
    await connected(agent, session, "left", "right")
    steps = [
        use("mcp__left__find", "1"),
        use("mcp__right__find", "2"),
        use("mcp__left__think", "3"),
        use("mcp__right__solo", "4"),
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    assert {"mcp__left__find", "mcp__right__find", "mcp__left__think"} <= {*offered(model)}
    told = calls(agent.news(session))
    names = ["mcp__left__find", "mcp__right__find", "mcp__left__think", "mcp__right__solo"]
    assert [call["name"] for call in told] == names
    assert [call["title"] for call in told][3] == "right: solo"
    for call, said in zip(
        told, ("left find 1", "right find 2", "left think 3", "right solo 4"), strict=True
    ):
        assert said in shown(call)
    await agent.turn(session, "/mcp")
    assert "right: `mcp__right__find`, `mcp__right__solo`" in words(agent.news(session))
    await agent.call("session/close", sessionId=session)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert [call["name"] for call in calls(agent.news(session))] == names


@pytest.mark.asyncio(loop_scope="session")
async def test_a_server_that_is_late_holds_nobody_up(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """The prompt is answered without it, which is said; its tools come when it does, under the
    names that they would have had. Then it changes them, and a sub-agent has them, too."""
    allow_all(agent)
    late = server(tmp_path, "late", "sing,hum", str(tmp_path / "go"))
    session = await opened(agent, tmp_path, late, server(tmp_path, "there", "hum"))
    await connected(agent, session, "there")
    assert stop_reason(await agent.turn(session, "hello")) == "end_turn"
    assert "mcp__there__hum" in offered(model)
    assert "mcp__late" not in str(offered(model))
    said = json.dumps(agent.lines)
    assert "Continuing without MCP server late: no answer within 3 seconds." in said
    (tmp_path / "go").touch()
    await agent.until(lambda line: "MCP server late is connected." in str(line))
    below = {"prompt": json.dumps({"play": [use("mcp__late__grown", "low"), {"text": "did it"}]})}
    below |= {"subagent_type": "bash-runner", "description": "below"}
    steps = [
        use("mcp__late__sing", "grow"),
        {"text": "Wait for it.", **use("mcp__late__grown", "high")},
        {"call": {"name": "task", "arguments": below}},
        {"text": "ok"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    told = calls(agent.news(session))
    assert [call["name"] for call in told] == [
        "mcp__late__sing",
        "mcp__late__grown",
        "task",
        "mcp__late__grown",
    ]
    assert "late grown high" in shown(told[1])
    assert "late grown low" in shown(told[3])
    steps = [use("mcp__there__hum", "on"), use("mcp__late__hum", "on"), {"text": "ok"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    there, here = calls(agent.news(session))
    assert "there hum on" in shown(there), "not closed with the sub-agent"
    assert "late hum on" in shown(here)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_cancel_reaches_the_server(agent: Agent, tmp_path: Path) -> None:
    """As `notifications/cancelled` with the call's number; so does a call's end of time."""
    allow_all(agent)
    session = await opened(agent, tmp_path, server(tmp_path, "slow", "sing"))
    await connected(agent, session, "slow")
    log = tmp_path / "slow.log"
    id = agent.prompt(session, [use("mcp__slow__sing", "hang"), {"text": "never"}])
    await agent.until(
        lambda line: line.get("params", {}).get("update", {}).get("status") == "in_progress"
    )
    await _until(lambda: "hangs" in log.read_text())
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(id)) == "cancelled"
    number = log.read_text().split()[1]
    await _until(lambda: f"cancelled {number}" in log.read_text())
    assert stop_reason(await agent.turn(session, "and now?")) == "end_turn"


@pytest.mark.asyncio(loop_scope="session")
async def test_a_servers_own_timeout(agent: Agent, agent_home: Path, tmp_path: Path) -> None:
    given = server(tmp_path, "brief", "sing")
    entry = {"command": given["command"], "args": given["args"], "timeout": 4}
    mcp.add(str(agent_home), "brief", entry)
    try:
        allow_all(agent)
        session = await opened(agent, tmp_path)
        await connected(agent, session, "brief")
        steps = [use("mcp__brief__sing", "hang"), {"text": "ok"}]
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
        [call] = calls(agent.news(session))
        assert "timed out after 4" in shown(call)
        log = tmp_path / "brief.log"
        number = log.read_text().split()[1]
        await _until(lambda: f"cancelled {number}" in log.read_text())
    finally:
        mcp.remove(str(agent_home), "brief")


@pytest.mark.asyncio(loop_scope="session")
async def test_a_rule_for_a_servers_tools(agent: Agent, tmp_path: Path, ruled: Any) -> None:
    """By `mcp__server__tool`, as for every agent; whatever the model calls them."""
    ruled('name = "no-left"\ndo = "deny"\ntool = "mcp__left__*"\nreason = "not that one"')
    asked = allow_all(agent)
    both = server(tmp_path, "left", "hum"), server(tmp_path, "right", "sing")
    session = await opened(agent, tmp_path, *both)
    await connected(agent, session, "left", "right")
    steps = [use("mcp__left__hum", "1"), use("mcp__right__sing", "2"), {"text": "ok"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    denied, done = calls(agent.news(session))
    assert (denied["status"], done["status"]) == ("failed", "completed")
    assert "not that one" in shown(denied)
    assert [each["toolCall"]["name"] for each in asked] == ["mcp__right__sing"]


async def _until(true: Callable[[], bool]) -> None:
    """For what no line of the agent tells."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - a file of another process
            await asyncio.sleep(0.01)
