"""The bridge's own part of sessions: which agent, which session, and what is left of a failure."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.home.config import load
from rookery.processes import tree
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json, texts
from tests.acp.whole_session import HERE
from tests.cli.driving import made, play, rookery
from tests.client.test_import import elsewhere
from tests.rigs.player import player

BARE = [sys.executable, "-m", "rookery", "acp"]


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


async def opened(door: Door, *arguments: str) -> Agent:
    """A bridge without --cmd."""
    agent = await Agent.start([*BARE, *arguments])
    door.started.append(agent)
    await agent.call("initialize", protocolVersion=1)
    return agent


def option(made: Json, name: str = "agent") -> Json:
    [found] = [each for each in made["configOptions"] if each["id"] == name]
    return found


def configure(door: Door, **agents: list[str]) -> None:
    lines = [f"[agents.{name}]\ncommand = {argv!r}" for name, argv in agents.items()]
    (door.home / "config.toml").write_text("\n".join(lines))


async def test_the_agent_is_an_option_and_another_takes_over_later(bridge: Door) -> None:
    """By flag, by configuration, or chosen in the editor; in a conversation it is a switch."""
    for name in ("other", "third"):
        script = {"otherwise": [{"text": name}]}
        (bridge.root / f"{name}.json").write_text(json.dumps(script))
    files = {name: str(bridge.root / f"{name}.json") for name in ("other", "third")}
    configure(bridge, **{name: bridge.player(file) for name, file in files.items()})
    agent = await opened(bridge, "--agent", "demo")
    made = await agent.call("session/new", **HERE)
    session = made["sessionId"]
    values = [choice["value"] for choice in option(made)["options"]]
    assert option(made)["currentValue"] == "demo"
    assert {"demo", "other"} <= set(values)
    choose = {"sessionId": session, "configId": "agent"}
    assert await agent.call("session/set_config_option", value="nobody", **choose) == -32602
    full = await agent.call("session/set_config_option", value="other", **choose)
    assert option(full)["currentValue"] == "other"
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"
    assert texts(agent.news(session)) == ["other"]
    full = await agent.call("session/set_config_option", value="other", **choose)
    assert option(full)["currentValue"] == "other"
    full = await agent.call("session/set_config_option", value="third", **choose)
    assert option(full)["currentValue"] == "third"
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"
    assert texts(agent.news(session))[-1] == "third"
    assert [line for line in agent.lines if f"`rookery recap {session}`" in str(line)]


async def test_an_agent_that_does_not_start_is_not_chosen(bridge: Door) -> None:
    """The one before it comes back."""
    configure(bridge, broken=bridge.player({"start": {"crash": 3, "stderr": "no key"}}))
    agent = await opened(bridge, "--agent", "demo")
    session = await agent.new()
    choose = {"sessionId": session, "configId": "agent", "value": "broken"}
    answer = await agent.answer(agent.ask("session/set_config_option", **choose))
    assert "no key" in answer["error"]["message"]
    await agent.call("session/load", sessionId=session, **HERE)
    assert option(agent.lines[-1]["result"])["currentValue"] == "demo"
    assert "result" in await agent.turn(session, [{"text": "still here"}])


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ({"start": {"crash": 3, "stderr": "boom"}}, -32603, "boom"),
        ({"start": {"new_error": {"code": -32000, "message": "Locked"}}}, -32000, "Log in to"),
    ],
    ids=["dies", "wants a login"],
)
async def test_a_start_that_fails_leaves_nothing(
    bridge: Door, script: Json, code: int, words: str
) -> None:
    """The agent's own words, and no session."""
    agent = await bridge.open(script)
    answer = await agent.answer(agent.ask("session/new", **HERE))
    assert answer["error"]["code"] == code
    assert words in answer["error"]["message"]
    assert await agent.call("session/list") == {"sessions": []}
    assert not bridge.workers()


async def test_a_program_that_is_not_there(bridge: Door) -> None:
    agent = await opened(bridge, "--cmd", "nowhere-to-be-found --acp")
    answer = await agent.answer(agent.ask("session/new", **HERE))
    assert "not installed" in answer["error"]["message"]
    assert await agent.call("session/new", cwd="/nowhere/at/all", mcpServers=[]) == -32602


@pytest.mark.parametrize("how", ["resume", "last"])
async def test_the_first_thread_can_be_an_old_session(
    bridge: Door, how: str, tmp_path: Path
) -> None:
    """Its history follows the answer; the next session/new makes a new one."""
    old = made({"text": "from before"})
    agent = await opened(bridge, *(["--last"] if how == "last" else ["--resume", old[:6]]))
    here = {"cwd": str(Path.cwd()), "mcpServers": []}
    first = await agent.call("session/new", **here)
    assert first["sessionId"] == old
    assert (await agent.turn(old, [{"text": "and after"}]))["result"]["stopReason"] == "end_turn"
    told = [line["params"]["update"] for line in agent.lines if "params" in line]
    assert texts(told) == ["from before", "and after"]
    assert (await agent.call("session/new", **here))["sessionId"] != old


async def test_mcp_servers_of_a_load_apply_at_the_agents_next_start(
    bridge: Door, tmp_path: Path
) -> None:
    """MCP servers of a load are given to the agent at its next start; while a turn runs, nothing
    is changed under it."""
    agent = await bridge.open()
    session = await agent.new()
    server = {"name": "later", "command": "/bin/true", "args": [], "env": []}
    here = {"cwd": "/tmp", "mcpServers": [server]}
    await agent.call("session/load", sessionId=session, **here)
    await agent.turn(session, [{"text": "$servers"}])
    assert texts(agent.news(session)) == ["later"]
    running = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
    await agent.until(lambda line: "'on'" in str(line))
    await agent.call("session/load", sessionId=session, **HERE)
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"


async def test_sessions_of_the_terminal_are_listed_and_loaded(bridge: Door, home: Path) -> None:
    """Looking at one wakes nobody."""
    argv = bridge.player({})
    session = create_session(str(home), agent="player", argv=argv, cwd="/tmp", title="Mine")
    agent = await bridge.open()
    [entry] = (await agent.call("session/list"))["sessions"]
    assert (entry["sessionId"], entry["title"]) == (session, "Mine")
    assert entry["_meta"]["rookery"] == {"state": "not-begun", "label": "not begun"}
    await agent.call("session/load", sessionId=session, **HERE)
    assert not bridge.workers()
    assert "result" in await agent.turn(session, "hi")


async def test_a_session_that_is_imported_has_its_history_when_an_editor_loads_it(
    bridge: Door, tmp_path: Path
) -> None:
    words = player("demo", "--state", str(tmp_path / "theirs"))
    configure(bridge, mine=words)
    elsewhere(words, tmp_path, play({"text": "a kingfisher"}))
    session = rookery("import", "--agent", "mine", str(tmp_path)).out.strip()
    agent = await bridge.open()
    await agent.call("session/load", sessionId=session, **HERE)
    assert "a kingfisher" in texts(agent.news(session))


async def test_close_frees_what_a_session_holds(bridge: Door, home: Path) -> None:
    """Worker and agent end; the session stays."""
    agent = await bridge.open()
    session = await agent.new()
    [record] = bridge.workers()
    ours = [row for row in tree.table() if row.pid in (record["pid"], record["agentPid"])]
    assert len(ours) == 2
    assert await agent.call("session/close", sessionId=session) == {}
    assert not tree.wait_gone(ours, 60.0)
    assert [head["id"] for head in fleet.heads(str(home))] == [session]


async def test_a_session_that_is_deleted_elsewhere(bridge: Door, home: Path) -> None:
    """Its prompt is answered, the other sessions are not disturbed."""
    agent = await bridge.open()
    session, other = await agent.new(), await agent.new()
    running = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
    await agent.until(lambda line: "'on'" in str(line))
    fleet.remove(str(home), session)
    answer = await agent.answer(running)
    assert "error" in answer or answer["result"]["stopReason"] == "cancelled"
    assert "result" in await agent.turn(other, "hi")


async def test_a_new_session_shows_its_approval_mode_and_keeps_it_to_itself(
    bridge: Door,
) -> None:
    """A choice in one thread is no other thread's, and no default."""
    (bridge.home / "config.toml").write_text('[session]\nconfirm = "risky"\n')
    agent = await opened(bridge, "--agent", "demo")
    made = await agent.call("session/new", **HERE)
    assert option(made, "confirm")["currentValue"] == "risky"
    assert option(made, "confirm")["description"].startswith("Ask when risky: ")
    set_ = {"sessionId": made["sessionId"], "configId": "confirm"}
    full = await agent.call("session/set_config_option", value="all", **set_)
    assert option(full, "confirm")["currentValue"] == "all"
    assert option(await agent.call("session/new", **HERE), "confirm")["currentValue"] == "risky"
    assert load(str(bridge.home)).confirm == "risky"
    assert await agent.call("session/set_config_option", value="sometimes", **set_) != full


async def test_the_approval_mode_can_be_set_by_a_flag(bridge: Door) -> None:
    """Of new sessions, and of the one that is continued."""
    old = made({"text": "from before"})
    agent = await opened(bridge, "--agent", "demo", "--resume", old, "--llm-approve")
    first = await agent.call("session/new", **HERE)
    assert (first["sessionId"], option(first, "confirm")["currentValue"]) == (old, "risky")
    new = await agent.call("session/new", **HERE)
    assert option(new, "confirm")["currentValue"] == "risky"
