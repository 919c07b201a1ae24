"""A warm process while it loads the SDK: killed, ended, waited for."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.process.arguments import SETUP
from rookery.agent.process.greeting import TERMINAL_SETUP
from rookery.agent.scripted.server import ScriptedModel
from rookery.client import warm_agent
from rookery.processes import cgroups, home_tag, roots, tree
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.driving import stop_reason
from tests.agent.test_warm import PATIENCE, Warm, until

LONG = pytest.mark.long
INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}}


@pytest.fixture
def warm(model: ScriptedModel) -> Iterator[Warm]:
    home = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    (home / "person").mkdir()
    (home / "run").mkdir(mode=0o700)
    write_settings(home, model)
    (home / "config.toml").write_text("")
    made = Warm(home)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.long
def test_a_killed_loaders_folder_is_removed_by_the_next(warm: Warm) -> None:
    """It takes a turn in a folder of its own; the next one takes away what that one left."""
    place = Path(f"{warm.socket}.heat")
    warm.begin()
    until(place.is_dir, "it did not begin")
    os.kill(warm.pid, signal.SIGKILL)
    assert place.is_dir()
    warm.start()
    assert not place.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    "loading", [pytest.param(False, id="waits"), pytest.param(True, id="loads", marks=LONG)]
)
def test_a_warm_process_ended_while_loading_leaves_nothing(warm: Warm, loading: bool) -> None:
    """Its record and its group were left for the next worker of the home to find."""
    warm.begin(*([] if loading else ["600"]))
    roots_of = Path(roots.directory(str(warm.home)))
    until(lambda: roots_of.is_dir() and any(roots_of.iterdir()), "it did not begin")
    if loading:
        until(Path(f"{warm.socket}.heat").is_dir, "it did not load")
    group, process = f"{cgroups.PREFIX}{home_tag(str(warm.home))}.", tree.process(warm.pid)
    assert process
    os.kill(process.pid, signal.SIGTERM)
    assert not tree.wait_gone([process], PATIENCE)
    assert not list(roots_of.iterdir())
    assert not list((warm.home / "run").glob("*.heat"))
    assert not [
        name
        for parent in cgroups._parents()
        for name in os.listdir(parent)
        if name.startswith(group)
    ]


NOTES = """
import os, sys
def note(event, given):
    if event == "import" and given[0] == "openhands.sdk":
        with open(os.environ["WHO_IMPORTS"], "a") as file:
            file.write(f"{os.getpid()}\\n")
sys.addaudithook(note)
"""
"""As sitecustomize: who imports the SDK."""


@pytest.mark.long
def test_a_busy_machine_imports_the_sdk_only_once(warm: Warm, tmp_path: Path) -> None:
    """The first `rookery run` of a home, with two processes that take all the time they get: the
    agent's door waits for the warm process instead of loading the same beside it."""
    (tmp_path / "sitecustomize.py").write_text(NOTES)
    noted = tmp_path / "noted"
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        more = {"WHO_IMPORTS": str(noted), "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}
        ran = subprocess.run(
            [*ARGV[:-1], "run", "--agent", "rookery", "hello"],
            env=surroundings(warm.home, **more),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert "You said: hello" in ran.stdout, ran.stdout + ran.stderr
    assert len(set(noted.read_text().split())) == 1


def test_the_agent_does_not_wait_for_a_dead_warm_process(warm: Warm) -> None:
    """Under a worker, which may start none: the lock of a dead process is free."""
    warm.begin("600")
    assert warm_agent.is_held(str(warm.socket))
    process = tree.process(warm.pid)
    assert process
    os.kill(process.pid, signal.SIGKILL)
    assert not tree.wait_gone([process], PATIENCE)
    assert not warm_agent.is_held(str(warm.socket))


@pytest.mark.asyncio(loop_scope="session")
async def test_initialize_is_answered_while_the_sdk_loads(warm: Warm) -> None:
    """By the door, with the agent's own words. (Here it loads for ever.)"""
    warm.begin("600")
    async with warm.door() as door:
        told = await door.call("initialize", **INITIALIZE)
        assert warm_agent.is_held(str(warm.socket))
        assert not warm.socket.exists()
    assert told["agentInfo"]["name"] == "rookery-agent"
    assert [each["id"] for each in told["authMethods"]] == [SETUP, TERMINAL_SETUP]


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("comes", [True, False])
async def test_requests_sent_while_loading_are_answered_once(
    warm: Warm, tmp_path: Path, comes: bool
) -> None:
    """In the first write of a client: the door answers the first line of it, and the agent the
    rest, forked or, if the warm process dies, loaded by the door itself."""
    warm.begin(*([] if comes else ["600"]))
    async with warm.door() as door:
        first = door.ask("initialize", **INITIALIZE)
        second = door.ask("session/new", cwd=str(tmp_path), mcpServers=[])
        assert "result" in await door.answer(first)
        if not comes:
            os.kill(warm.pid, signal.SIGKILL)
        session = (await door.answer(second))["result"]["sessionId"]
        assert stop_reason(await door.turn(session, "hello")) == "end_turn"
        ids = [line["id"] for line in door.lines if "id" in line and "method" not in line]
        assert sorted(ids) == sorted(set(ids))
        assert await door.call("initialize", **INITIALIZE)  # a second one is the agent's
