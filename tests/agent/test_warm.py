"""The warm process and the door: an agent that was forked is the same as one that was started, and
everything works without it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.client import warm_agent
from rookery.processes import tree
from tests.acp.driving import Agent, alive
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.driving import allow_all, permission, run, stop_reason, words
from tests.conftest import end_all

PATIENCE = 120.0
WARM = [sys.executable, "-P", "-m", "rookery.agent.warm"]


def until(true: Callable[[], bool], what: str) -> None:
    """Processes tell nobody when they are ready, or gone: looked for, with an end."""
    from time import monotonic, sleep

    deadline = monotonic() + PATIENCE
    while not true():
        assert monotonic() < deadline, what
        sleep(0.02)


class Warm:
    def __init__(self, home: Path) -> None:
        self.home = home

    @property
    def socket(self) -> Path:
        """Of the one that fits the usual surroundings."""
        code = (
            "from rookery.home import paths; from rookery.client import warm_agent as warmth; "
            "print(warmth.socket_path(paths.home()))"
        )
        argv = [sys.executable, "-P", "-c", code]
        environment = surroundings(self.home)
        return Path(subprocess.check_output(argv, env=environment, text=True).strip())

    @property
    def pid(self) -> int:
        return int(Path(f"{self.socket}.lock").read_text())

    def end(self) -> None:
        """All of them, also those that doors started for later."""
        for lock in (self.home / "run").glob("warm-*.lock"):
            rows = [row for row in tree.table() if str(row.pid) == lock.read_text().strip()]
            tree.kill([*rows, *(low for row in rows for low in tree.descendants(row.pid))])
        end_all(self.home)
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self, *words: str) -> None:
        """As a door would, and wait until it listens."""
        self.begin(*words)
        until(lambda: any((self.home / "run").glob("warm-*.s")), "no warm process came up")

    def begin(self, *words: str) -> None:
        (self.home / "run").mkdir(mode=0o700, exist_ok=True)
        environment = surroundings(self.home)
        subprocess.run([*WARM, *words], env=environment, cwd="/", check=True, timeout=PATIENCE)

    @asynccontextmanager
    async def door(self, **environment: str) -> AsyncIterator[Agent]:
        agent = await Agent.start(ARGV, environment=surroundings(self.home, **environment))
        try:
            yield agent
        finally:
            await agent.kill()

    def parent_of(self, pid: int) -> int:
        return next(row.parent for row in tree.table() if row.pid == pid)


@pytest.fixture(scope="module")
def warm(model: ScriptedModel) -> Iterator[Warm]:
    home = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    (home / "person").mkdir()
    write_settings(home, model)
    (home / "config.toml").write_text("")
    made = Warm(home)
    try:
        made.start()
        yield made
    finally:
        made.end()


async def told(agent: Agent, session: str, command: str) -> str:
    """What a command printed."""
    allow_all(agent)
    agent.lines.clear()
    agent._read = 0
    answer = await agent.turn(session, [run(command), {"text": "Done."}])
    assert stop_reason(answer) == "end_turn"
    call = next(each for each in agent.news(session) if each.get("rawOutput"))
    return str(call["rawOutput"]["output"]).strip()


@pytest.mark.asyncio(loop_scope="session")
async def test_an_agent_is_forked_with_its_doors_surroundings(warm: Warm, tmp_path: Path) -> None:
    """Directory, environment, time zone and umask are the door's; its parent is the warm one."""
    async with warm.door(COLOUR="green", TZ="Asia/Tokyo") as agent:
        session = await agent.begin(str(tmp_path))
        said = await told(agent, session, "echo $PPID; pwd; echo $COLOUR; date +%Z; umask")
        pid, where, colour, zone, umask = said.split()
        assert warm.parent_of(int(pid)) == warm.pid
    assert (where, colour, zone) == (str(tmp_path), "green", "JST")
    assert umask == f"{_umask():04o}"


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


@pytest.mark.asyncio(loop_scope="session")
async def test_commands_see_nothing_of_how_the_sdk_was_loaded(warm: Warm, tmp_path: Path) -> None:
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        said = await told(agent, session, "env | grep -cE '^(LOG_LEVEL|LITELLM_LOG|LLM_)' || true")
    assert said == "0"


@pytest.mark.asyncio(loop_scope="session")
async def test_two_at_once_talk_over_connections_of_their_own(warm: Warm, tmp_path: Path) -> None:
    async with warm.door() as one, warm.door() as two:
        sessions = [await agent.begin(str(tmp_path)) for agent in (one, two)]
        answers = [
            agent.turn(session, [{"text": f"I am {name}. " * 200, "chunks": 100}])
            for agent, session, name in zip((one, two), sessions, ("one", "two"), strict=True)
        ]
        await asyncio.gather(*answers)
        assert words(one.news()) == "I am one. " * 200
        assert words(two.news()) == "I am two. " * 200


@pytest.mark.asyncio(loop_scope="session")
async def test_the_end_of_stdin_ends_it_with_its_status(warm: Warm, tmp_path: Path) -> None:
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        pid = int(await told(agent, session, "echo $PPID"))
        assert await agent.close() == 0
        until(lambda: not alive(pid), "the agent lives on")


def test_bad_arguments_are_told_through_the_door(warm: Warm) -> None:
    ran = subprocess.run(
        [*ARGV, "--wings"], env=surroundings(warm.home), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "--wings is not a known option" in ran.stderr) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.asyncio(loop_scope="session")
async def test_the_doors_end_is_the_agents(warm: Warm, tmp_path: Path, number: int) -> None:
    """With all that it started, also what made itself a daemon."""
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        daemon = "(setsid sleep 611 >/dev/null 2>&1 & echo $! $PPID)"
        slept, pid = map(int, (await told(agent, session, daemon)).split())
        assert alive(slept)
        os.kill(agent.process.pid, number)
        status = await agent.process.wait()
        until(lambda: not alive(pid) and not alive(slept), "something lives on")
    assert status == (-9 if number == signal.SIGKILL else 128 + number)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
async def test_another_key_is_another_warm_process(warm: Warm, tmp_path: Path) -> None:
    async with warm.door(OPENHANDS_ANYTHING="1") as agent:
        session = await agent.begin(str(tmp_path))
        pid = int(await told(agent, session, "echo $PPID"))
        assert warm.parent_of(pid) not in (agent.process.pid, warm.pid)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_stranger_gets_nothing_and_breaks_nothing(warm: Warm, tmp_path: Path) -> None:
    """Who says nothing, says nonsense, or hangs up at once."""
    import socket

    for nonsense in (b"", b"\xff\xff\xff\xff", b"\0\0\0\x05hello"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
            stranger.connect(str(warm.socket))
            stranger.sendall(nonsense)
            stranger.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):  # it left something unread
                assert stranger.recv(1) == b""
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        assert warm.parent_of(int(await told(agent, session, "echo $PPID"))) == warm.pid


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
async def test_a_spare_serves_once_and_the_next_one_comes(
    model: ScriptedModel, tmp_path: Path
) -> None:
    """Where fork without exec is not safe."""
    home = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    (home / "person").mkdir()
    write_settings(home, model)
    (home / "config.toml").write_text("")
    spare = Warm(home)
    try:
        spare.start("--spare")
        first = spare.pid
        async with spare.door() as agent:
            session = await agent.begin(str(tmp_path))
            assert int(await told(agent, session, "echo $PPID")) == first
            until(lambda: spare.pid != first, "no other spare was started")
            os.kill(spare.pid, signal.SIGKILL)
            assert await agent.close() == 0
    finally:
        spare.end()


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
async def test_killed_it_takes_no_agent_with_it(warm: Warm, tmp_path: Path) -> None:
    """The last of this file. The next door starts another one, and waits for it."""
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        before = warm.pid
        os.kill(before, signal.SIGKILL)
        assert await told(agent, session, "echo still here") == "still here"
        async with warm.door() as cold:
            session = await cold.begin(str(tmp_path))
            pid = int(await told(cold, session, "echo $PPID"))
            assert warm.parent_of(pid) == warm.pid != before
        assert await agent.close() == 0
    later = warm.pid
    warm_agent.end(str(warm.home))  # as `rookery uninstall` does
    until(lambda: not alive(later), "it lives on")


@pytest.mark.asyncio(loop_scope="session")
async def test_a_forked_agents_jobs_end_with_it(warm: Warm, tmp_path: Path) -> None:
    """It fell to the warm process: a job with a session of its own, of an agent that was killed."""
    async with warm.door() as agent:
        session = await agent.begin(str(tmp_path))
        job = "setsid -f sh -c 'echo $$ > left; exec sleep 1000' >/dev/null 2>&1"
        waiting = "while ! [ -s left ]; do sleep 0.05; done; cat left"
        left = tree.process(int((await told(agent, session, f"{job}; {waiting}")).split()[-1]))
        assert left is not None
        parent = left.parent
        while warm.parent_of(parent) not in (warm.pid, 1):  # its shell holds it first
            parent = warm.parent_of(parent)
        assert warm.parent_of(parent) == warm.pid
        os.kill(parent, signal.SIGKILL)
        assert not await asyncio.to_thread(tree.wait_gone, [left], PATIENCE)
        assert await agent.process.wait() == 128 + signal.SIGKILL


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("how", ["hang up", "TERM", "KILL"])
async def test_a_forked_agents_open_asks_stay_open(
    warm: Warm, model: ScriptedModel, tmp_path: Path, how: str
) -> None:
    """However its door goes; the conversation is kept, and the model hears of no cancel."""
    async with warm.door() as first:
        session = await first.begin(str(tmp_path))
        first.prompt(session, [run("touch done"), {"text": "all well"}])
        await permission(first)
        if how == "hang up":
            await first.close()
        else:
            first.process.send_signal(signal.Signals[f"SIG{how}"])
            await first.process.wait()
    since = len(model.asked)
    async with warm.door() as second:
        await second.call("initialize", protocolVersion=1)
        here = {"cwd": str(tmp_path), "mcpServers": []}
        assert isinstance(await second.call("session/resume", sessionId=session, **here), dict)
        asked = allow_all(second)
        meta = {"rookery": {"continue": True}}
        going = second.ask("session/prompt", sessionId=session, prompt=[], _meta=meta)
        assert stop_reason(await second.answer(going)) == "end_turn"
        assert [each["toolCall"]["rawInput"]["command"] for each in asked] == ["touch done"]
        assert words(second.news(session)) == "all well"
    assert (tmp_path / "done").exists()
    told_to_it = str([each.body["messages"] for each in list(model.asked)[since:]]).lower()
    assert "cancel" not in told_to_it


def test_it_ends_when_another_build_is_installed_and_no_agent_is_left(tmp_path: Path) -> None:
    code = """
import os, socket, sys
from rookery import build
from rookery.agent.warm import process
build._known, process.LOOK = "0.0.1+older", 0.1
path = os.path.join(sys.argv[1], "s")
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
lock = os.open(path + ".lock", os.O_CREAT | os.O_RDWR)
sys.exit(process.Warm(listener, path, lock, sys.argv[1]).serve())
"""
    argv = [sys.executable, "-P", "-c", code, str(tmp_path)]
    assert subprocess.run(argv, timeout=PATIENCE, check=False).returncode == 0
