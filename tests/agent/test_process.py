"""The agent as a process: its start, its end, what it prints, and how late its loop ever is."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from rookery.processes import tree
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, keep_cold, surroundings, write_settings
from tests.agent.driving import allow_all, run, status, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Start = Callable[..., Awaitable[Agent]]


@pytest.fixture
def empty_home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="rke-", dir="/tmp"))
    (home / "person").mkdir()
    keep_cold(home)
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest_asyncio.fixture(loop_scope="session")
async def start() -> AsyncIterator[Start]:
    started: list[Agent] = []

    async def make(home: Path, *words: str, forked: bool = False, **environment: str) -> Agent:
        surrounded = surroundings(home, **environment)
        agent = await Agent.start([*ARGV, *words], environment=surrounded, forked=forked)
        started.append(agent)
        return agent

    yield make
    for agent in started:
        await agent.kill()


def loaded(agent: Agent) -> bool:
    """Whether the SDK's files are in its memory."""
    return "pydantic_core" in Path(f"/proc/{agent.process.pid}/maps").read_text()


async def test_initialize_is_answered_before_the_sdk_loads(start: Start, empty_home: Path) -> None:
    """Truthful, protocol 1 and never an echo, before anything heavy is loaded; no network."""
    agent = await start(empty_home)
    before = loaded(agent)
    answer = await agent.call("initialize", protocolVersion=65535)
    assert not before
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["name"] == "rookery-agent"
    ours = {"continue": True, "forkAt": True, "pause": True}
    assert answer["_meta"] == {"steering": {"supported": True}, "rookery": ours}
    sessions = answer["agentCapabilities"]["sessionCapabilities"]
    assert set(sessions) == {
        *("list", "delete", "resume", "close", "fork", "additionalDirectories"),
    }
    assert [method["id"] for method in answer["authMethods"]] == ["rookery-setup"]
    again = await agent.call(
        "initialize", protocolVersion=1, clientCapabilities={"auth": {"terminal": True}}
    )
    assert again["protocolVersion"] == 1
    assert [method.get("type") for method in again["authMethods"]] == [None, "terminal"]
    assert len({method["id"] for method in again["authMethods"]}) == 2


async def test_without_a_model_new_sessions_say_what_is_missing(
    start: Start, empty_home: Path
) -> None:
    """-32000 with the command that is missing; never a trace, never a wait for the SDK."""
    agent = await start(empty_home, LLM_MODEL="openai/scripted")
    await agent.call("initialize", protocolVersion=1)
    answers = [
        await agent.answer(agent.ask("session/new", cwd="/tmp", mcpServers=[])),
        await agent.answer(agent.ask("authenticate", methodId="rookery-setup")),
    ]
    for answer in answers:
        assert answer["error"]["code"] == -32000
        assert "rookery setup" in answer["error"]["message"]
    assert "--override-with-envs" in answers[0]["error"]["message"]
    assert await agent.call("authenticate", methodId="nope") == -32602


async def test_a_broken_settings_file_is_named(start: Start, empty_home: Path) -> None:
    (empty_home / "agent_settings.json").write_text('{"profiles": {\n  oops\n}}')
    agent = await start(empty_home)
    await agent.call("initialize", protocolVersion=1)
    refused = await agent.answer(agent.ask("session/new", cwd="/tmp", mcpServers=[]))
    assert "agent_settings.json, line 2" in refused["error"]["message"]


async def test_the_agent_ends_with_its_stdin(
    start: Start, agent_home: Path, tmp_path: Path
) -> None:
    """Whatever runs: the command, the shell, what they left behind. The ancestor lived on."""
    agent = await start(agent_home, forked=True)
    allow_all(agent)
    session = await agent.begin(str(tmp_path))
    os.mkfifo(tmp_path / "on")
    line = "(trap '' INT TERM HUP; sleep 611) & (trap '' INT TERM HUP; echo > on; sleep 612)"
    id = agent.prompt(session, [run(line)])
    await status(agent, "in_progress")
    await asyncio.to_thread((tmp_path / "on").read_text)
    family = tree.descendants(agent.process.pid)
    assert len(family) >= 3
    names = [Path(f"/proc/{one.pid}/comm").read_text().strip() for one in family]
    assert not [name for name in names if "tmux" in name], names
    agent.hang_up()
    async with asyncio.timeout(120):
        assert await agent.process.wait() == 0
    await agent.rest()
    assert agent.lines[-1]["id"] == id
    assert agent.lines[-1]["result"]["stopReason"] == "cancelled"
    assert not await asyncio.to_thread(tree.wait_gone, family, 10.0)


async def test_stdout_is_the_protocol_alone(agent: Agent, tmp_path: Path) -> None:
    """Tools that print, the SDK's own words, odd characters: each line is one message. (That it is
    valid, the driver sees.) The system prompt and internal states are nobody's thought."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    odd = "\U0001f426 \u2028 tab\t"
    await agent.turn(session, [run("echo to stdout; echo to stderr >&2"), {"text": odd}])
    assert words(agent.news(session)) == odd
    said = " ".join(str(line) for line in agent.lines)
    assert "You are OpenHands agent" not in said
    assert "SystemPrompt" not in said
    for line in agent.raw:
        assert line.count(b"\n") == 1
        assert json.loads(line)["jsonrpc"] == "2.0"


WATCHED = """
import sys, threading
from rookery.agent import server

loaded = []

def watch(event, args):
    if event == "import" and threading.current_thread() is threading.main_thread():
        loaded.append(args[0])

class Watched(server.Server):
    def _on_notification(self, method, params):
        if method == "_loaded/begin":
            loaded.clear()
        elif method == "_loaded/tell":
            self.peer.notify("_loaded/told", {"modules": loaded})
        else:
            super()._on_notification(method, params)

sys.addaudithook(watch)
server.Server = Watched
server.main(sys.argv[1:])
"""


A_FEW = 20
"""The SDK has thousands of modules."""
KINDS = ("user_prompt_submit", "pre_tool_use", "post_tool_use", "stop")


async def pass_by(agent: Agent, cwd: Path, kind: str) -> None:
    """A hook of that kind waits for us: the agent answers meanwhile, so nothing holds its loop."""
    async with asyncio.timeout(120):
        while not (cwd / f"at-{kind}").exists():
            await agent.call("session/list", cwd="/nowhere")
    assert "sessions" in await agent.call("session/list", cwd="/nowhere")
    (cwd / f"go-{kind}").touch()


async def loaded_on_the_loop(agent: Agent) -> list[str]:
    """Return the modules that the loop's own thread has imported since it was asked before."""
    agent.notify("_loaded/tell")
    told = await agent.until(lambda line: line.get("method") == "_loaded/told")
    agent.notify("_loaded/begin")
    return list(told["params"]["modules"])


async def test_nothing_holds_the_loop(agent_home: Path, tmp_path: Path) -> None:
    """While the SDK works, the agent answers: at a first answer, tools, permissions, a stream,
    hooks that wait. Imports, which take seconds, are left to other threads."""
    folder = tmp_path / ".rookery"
    folder.mkdir()
    line = "touch at-{0}; while [ ! -e go-{0} ]; do sleep 0.05; done"
    hooks = {kind: [{"hooks": [{"command": line.format(kind)}]}] for kind in KINDS}
    (folder / "hooks.json").write_text(json.dumps(hooks))
    program = tmp_path / "watched.py"
    program.write_text(WATCHED)
    agent = await Agent.start(
        [sys.executable, "-P", str(program)], environment=surroundings(agent_home)
    )
    try:
        allow_all(agent)
        session = await agent.begin(str(tmp_path))
        agent.notify("_loaded/begin")
        id = agent.prompt(session, [{"text": "the first answer"}])
        await pass_by(agent, tmp_path, "user_prompt_submit")
        await pass_by(agent, tmp_path, "stop")
        assert stop_reason(await agent.answer(id)) == "end_turn"
        assert len(await loaded_on_the_loop(agent)) < A_FEW
        steps: list[Json] = [run("sleep 1"), {"text": "word " * 50, "every": 0.01}]
        id = agent.prompt(session, steps)
        await pass_by(agent, tmp_path, "pre_tool_use")
        await pass_by(agent, tmp_path, "post_tool_use")
        assert stop_reason(await agent.answer(id)) == "end_turn"
        assert len(await loaded_on_the_loop(agent)) < A_FEW
    finally:
        await agent.kill()


async def test_resume_by_the_command_line(
    start: Start, empty_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """An unknown id is said; the process lives on."""
    write_settings(empty_home, model)
    agent = await start(empty_home, "--resume", os.urandom(16).hex())
    await agent.call("initialize", protocolVersion=1)
    refused = await agent.answer(agent.ask("session/new", cwd=str(tmp_path), mcpServers=[]))
    assert refused["error"]["code"] == -32002
    assert "--resume" in refused["error"]["message"]


@pytest.mark.long
@pytest.mark.parametrize("flag", ["--last", pytest.param("--resume", marks=pytest.mark.long)])
async def test_the_first_new_session_resumes_the_one_on_the_command_line(
    agent: Agent, start: Start, agent_home: Path, tmp_path: Path, flag: str
) -> None:
    """In the session that the command line names, told again behind the answer; the second thread
    of the client is a new one."""
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "remember")
    await agent.call("session/close", sessionId=session)
    other = await start(agent_home, *([flag] if flag == "--last" else [flag, session]))
    assert await other.begin(str(tmp_path)) == session
    assert other.news(session) == []
    assert stop_reason(await other.turn(session, [{"text": "on"}])) == "end_turn"
    told = [line["params"]["update"] for line in other.lines if line.get("method")]
    assert words(told, "user_message_chunk") == "remember"
    assert words(told) == "You said: rememberon"
    assert await other.new(str(tmp_path)) != session
