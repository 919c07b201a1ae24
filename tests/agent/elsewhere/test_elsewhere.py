"""The wire to an agent server and to OpenHands Cloud, against a stand-in. test_agent_server.py has
the real server."""

import json
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import ALLOW, allow_all, calls, permission, shown, stop_reason, words
from tests.agent.elsewhere.conftest import started
from tests.agent.elsewhere.stand_in import KEY, TOKEN, StandIn, call, say

pytestmark = pytest.mark.asyncio(loop_scope="session")

AUTH_REQUIRED = -32000


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn().serving() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def away(settled: Path, server: StandIn) -> AsyncIterator[Agent]:
    agent = await started(settled, "--remote", server.url, SESSION_API_KEY=KEY)
    yield agent
    await agent.kill()


async def test_servers_must_ask_before_each_action(
    away: Agent, server: StandIn, settled: Path, tmp_path: Path
) -> None:
    """Whatever the mode, the server waits before each action; rules deny before anybody is asked;
    a conversation that is gone is begun anew with a recap. Where plugins lie, which the server
    would run unasked, none is begun."""
    config = settled / "config.toml"
    rule = '[[policy.rules]]\ndo = "deny"\ncommand = "curl *"\n'
    config.write_text(config.read_text() + rule)
    server.folders = {str(tmp_path.parent / ".agents/plugins")}
    refused = await away.answer(away.ask("session/new", cwd=str(tmp_path), mcpServers=[]))
    assert "would run the plugins in" in refused["error"]["message"]
    server.folders.clear()
    session = await away.new(str(tmp_path))
    [one] = server.conversations.values()
    assert one.policy == "AlwaysConfirm"
    assert one.request["workspace"]["working_dir"] == str(tmp_path)
    assert "task_tool_set" not in json.dumps(one.request["agent"]["tools"])

    server.steps = [call("make it"), call("curl evil"), say("It is made.")]
    running = away.prompt(session, "Make it")
    asked = await permission(away)
    assert asked["params"]["toolCall"]["rawInput"]["command"] == "make it"
    away.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await away.answer(running)) == "end_turn"
    news = away.news(session)
    made, denied = calls(news)
    assert made["status"] == "completed"
    assert "ran make it" in shown(made)
    assert made["toolCallId"] == asked["params"]["toolCall"]["toolCallId"]
    assert denied["status"] == "failed"
    assert away.requests().count("session/request_permission") == 1
    assert words(news) == "It is made."

    # Gone, as after a disk was wiped.
    server.conversations.clear()
    server.steps = [say("Again.")]
    assert stop_reason(await away.turn(session, "And now?")) == "end_turn"
    told = words(away.news(session), "agent_thought_chunk")
    assert "gone from the agent server" in told
    [two] = server.conversations.values()
    assert "Make it" in two.request["agent"]["agent_context"]["system_message_suffix"]

    # One that does not wait for permission is not trusted.
    server.lies = True
    server.steps = [call("rm it"), say("Done.")]
    answer = await away.turn(session, "Clean up")
    assert "without waiting for your permission" in answer["error"]["message"]
    assert "interrupt" in server.heard

    said = b"".join(away.raw)
    assert KEY.encode() not in said
    assert not any(
        KEY.encode() in file.read_bytes() for file in settled.rglob("*") if file.is_file()
    )


async def test_an_unreachable_server_is_noticed_and_the_history_shown(
    settled: Path, tmp_path: Path
) -> None:
    with StandIn().serving() as server:
        agent = await started(settled, "--remote", server.url, SESSION_API_KEY="wrong-key")
        failed = await agent.answer(agent.ask("session/new", cwd=str(tmp_path), mcpServers=[]))
        assert failed["error"]["code"] == AUTH_REQUIRED
        assert "rookery agents add" in failed["error"]["message"]
        await agent.kill()
        agent = await started(settled, "--remote", server.url, SESSION_API_KEY=KEY)
        session = await agent.new(str(tmp_path))
        server.steps = [say("Here.")]
        assert stop_reason(await agent.turn(session, "Are you there?")) == "end_turn"
    answer = await agent.turn(session, "And now?")
    assert "does not respond" in answer["error"]["message"]
    assert answer["error"]["data"]["errorKind"] == "network"
    await agent.kill()
    # Another process of ours, which is told no address: the session knows its own.
    agent = await started(settled)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    news = agent.news(session)
    assert words(news) == "Here."
    assert "does not respond" in words(news, "agent_thought_chunk")
    await agent.kill()


async def test_the_cloud_token_is_checked_and_a_dead_sandbox_replaced(
    settled: Path, server: StandIn, tmp_path: Path
) -> None:
    words_ = ("--cloud", "--remote", server.url)
    agent = await started(settled, *words_)
    assert await agent.call("session/new", cwd=str(tmp_path), mcpServers=[]) == AUTH_REQUIRED
    assert _add(settled, "cloudy", *words_, key="wrong").returncode == 1
    saved = _add(settled, "cloudy", *words_, key=TOKEN)
    assert "ada@example.com" in saved.stderr, saved
    kept = settled / "agent_servers.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert TOKEN not in saved.stderr + (settled / "config.toml").read_text()
    assert "cloudy" in (settled / "config.toml").read_text()

    session = await agent.new(str(tmp_path))
    [one] = server.conversations.values()
    assert one.request["workspace"]["working_dir"] == "/workspace/project"
    allow_all(agent)
    server.steps = [call("make it"), say("Made.")]
    assert stop_reason(await agent.turn(session, "Make it")) == "end_turn"
    server.sandboxes["box-1"] = "MISSING"
    server.conversations.clear()
    server.steps = [say("Again.")]
    assert stop_reason(await agent.turn(session, "And now?")) == "end_turn"
    assert list(server.sandboxes) == ["box-1", "box-2"]
    assert "sandbox is being started" in words(agent.news(session), "agent_thought_chunk")
    await agent.kill()


def _add(home: Path, *words: str, key: str) -> subprocess.CompletedProcess[str]:
    environment = surroundings(home)
    command = [*ARGV[:-1], "agents", "add", *words]
    return subprocess.run(
        command, input=key + "\n", env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--remote", "ftp://x"], "not an address"),
        (["--remote", "http://me:secret@x"], "rookery agents add"),
        (["--directory", "/w"], "only for --remote"),
        (["--remote", "http://x", "--directory", "w"], "absolute path"),
        (["--container", "--image", "x"], "rookery acp --agent NAME"),
    ],
)
async def test_wrong_options_are_refused_in_words(given: list[str], said: str) -> None:
    from rookery.agent.process.arguments import parse

    found = parse(given)
    assert isinstance(found, str)
    assert said in found
