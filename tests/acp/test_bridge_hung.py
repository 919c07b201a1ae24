"""What an editor's user sees of a worker that hangs, and of a log-in."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.acp.bridge.silence import Silence
from tests.acp.bridging import is_call
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json, texts
from tests.acp.whole_session import HERE
from tests.cli.driving import rookery
from tests.worker.aviary import Bird

VENDOR = Path(__file__).parents[1] / "worker" / "vendor_agent.py"
KEY = "VENDOR_API_KEY"


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def hang(door: Door, session: str) -> int:
    pid = Bird(str(door.home), session).worker.pid
    os.kill(pid, signal.SIGSTOP)
    return pid


async def told(agent: Agent, session: str) -> str:
    """What is said of the worker's silence."""

    def found(line: Json) -> bool:
        params = line.get("params", {})
        is_it = is_call("session/update")(line) and params["sessionId"] == session
        return is_it and "does not respond" in str(params["update"])

    line = await agent.until(found)
    return str(line["params"]["update"]["content"]["text"])


@pytest.mark.long
async def test_an_editor_says_that_a_worker_hangs(bridge: Door) -> None:
    """A prompt that nobody takes, and a turn that stands still; with what helps, and it does help:
    what waited goes on, and the turn that was killed is over."""
    agent = await bridge.open()
    idle, running = await agent.new(), await agent.new()
    turn = agent.prompt(running, [{"text": "It has begun."}, {"until": "cancel"}])
    await agent.until(lambda line: "It has begun." in str(line))
    waiting = hang(bridge, idle)
    hang(bridge, running)
    prompt = agent.prompt(idle, [{"text": "Good morning."}])
    for session in (idle, running):
        words = await told(agent, session)
        assert words.startswith(f"\n\n_The worker of {session} does not respond")
        assert f"history: rookery stop --now {session}" in words
    os.kill(waiting, signal.SIGCONT)
    assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
    assert rookery("kill", running, ROOKERY_HOME=str(bridge.home)).code == 0
    error = (await agent.answer(turn))["error"]
    assert "The next prompt wakes the session" in error["message"]
    assert (await agent.turn(running, [{"text": "Again."}]))["result"]["stopReason"] == "end_turn"
    assert texts(agent.news(running))[-1] == "Again."


async def test_a_hung_worker_is_a_notice_in_editors_with_notices() -> None:
    """Once for each time that the worker hangs."""
    heard: list[Json] = []
    silence = Silence("/nowhere", "s", heard.append, notices=True)
    silence.say()
    silence.say()
    assert [(each["sessionUpdate"], each["severity"]) for each in heard] == [("notice", "warning")]
    assert "rookery stop --now s" in heard[0]["title"]
    silence.heard()
    silence.say()
    assert len(heard) == 2


async def test_after_a_login_the_agent_has_the_editors_environment(
    bridge: Door,
) -> None:
    """A prompt to an agent that wanted a log-in, and a switch; the variables are named, their
    values are not."""
    bridge.home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", str(VENDOR), "claude-agent-acp", KEY]
    plain = [sys.executable, "-P", str(VENDOR), "somebody"]
    (bridge.home / "config.toml").write_text(
        f"[agents.work]\ncommand = {json.dumps(command)}\n"
        f"[agents.other]\ncommand = {json.dumps(plain)}\n"
    )
    session = rookery("new", "--agent", "work").out.strip()
    assert rookery("prompt", session, "--wait", "env PATH").code == 1
    agent = await bridge.start_own("--agent", "work", **{KEY: "s3cret"})
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    await agent.call("session/load", sessionId=session, **HERE)
    answer = await agent.turn(session, f"env {KEY}")
    assert answer["result"]["stopReason"] == "end_turn"
    said = "".join(texts(agent.news(session)))
    assert f"The agent gets this editor's environment: {KEY} is new." in said
    assert "s3cret" in said
    third = await bridge.start_own("--agent", "work", **{KEY: "0ther"})
    await third.call("initialize", protocolVersion=1, clientCapabilities={})
    await third.call("session/load", sessionId=session, **HERE)
    await third.turn(session, f"env {KEY}")
    assert "s3cret" in "".join(texts(third.news(session)))  # nobody asked for another one
    await third.call(
        "session/set_config_option", sessionId=session, configId="agent", value="other"
    )
    assert f"{KEY} has changed." in "".join(texts(third.news(session)))
    await third.turn(session, f"env {KEY}")
    assert "0ther" in "".join(texts(third.news(session)))
