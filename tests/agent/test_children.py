"""What our own agent starts ends with it, however it ends, and with its call."""

import asyncio
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.client import fleet, warm_agent
from rookery.client.create import create_session
from rookery.client.start import connectable
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.driving import allow_all, run, status, stop_reason
from tests.agent.test_warm import PATIENCE, Warm, until
from tests.cli.test_hung import DEAF, OTHER
from tests.worker.aviary import Bird

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="agents are forked on Linux")

JOB = "setsid -f sh -c 'echo $$ > left; exec sleep 1000' >/dev/null 2>&1"
WAITED = f"rm -f left; {JOB}; while ! [ -s left ]; do sleep 0.05; done; echo $PPID $$ > shell"


@pytest.fixture
def warm(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warm]:
    home = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    (home / "person").mkdir()
    write_settings(home, model)
    (home / "config.toml").write_text("")
    for name, value in surroundings(home).items():
        monkeypatch.setenv(name, value)
    made = Warm(home)
    try:
        made.start()
        yield made
    finally:
        made.end()


class Family(NamedTuple):
    bird: Bird
    fork: Process
    shell: Process
    left: Process

    @property
    def all(self) -> tuple[Process, ...]:
        return self.fork, self.shell, self.left


def process(pid: int | str) -> Process:
    found = tree.process(int(pid))
    assert found is not None
    return found


async def family(warm: Warm, cwd: Path) -> Family:
    """A session of our own agent's, forked, with a shell and a job that detached itself."""
    home = str(warm.home)
    environment = surroundings(warm.home)
    made = {"agent": "rookery", "argv": [], "cwd": str(cwd), "confirm": "all"}
    bird = Bird(home, create_session(home, environment=environment, **made))  # type: ignore[arg-type]
    assert await bird.reason([run(WAITED), {"text": "Done."}]) == "end_turn"
    fork, shell = (cwd / "shell").read_text().split()
    assert process(fork).parent == warm.pid
    return Family(bird, process(fork), process(shell), process((cwd / "left").read_text()))


async def gone(*processes: Process) -> bool:
    return not await asyncio.to_thread(tree.wait_gone, processes, PATIENCE)


async def kill_warm(warm: Warm) -> None:
    killed = process(warm.pid)
    tree.kill([killed])
    assert await gone(killed)


@pytest.mark.long
@pytest.mark.parametrize(
    "alive",
    [
        pytest.param(True, id="warm"),
        pytest.param(False, id="warm process killed", marks=pytest.mark.long),
    ],
)
async def test_a_killed_fork_takes_its_children_with_it(
    warm: Warm, tmp_path: Path, alive: bool
) -> None:
    """The warm process has them, or the worker finds them by their mark."""
    found = await family(warm, tmp_path)
    if not alive:
        await kill_warm(warm)
    tree.kill([found.fork])
    assert await gone(*found.all)
    assert tree.still_alive([found.bird.worker])


@pytest.mark.long
@pytest.mark.parametrize("alive", [True, False], ids=["warm", "warm process killed"])
@pytest.mark.parametrize("way", ["stop", "kill", "rm"])
async def test_a_stopped_fork_ends_with_its_session(
    warm: Warm, tmp_path: Path, way: str, alive: bool
) -> None:
    """It hears nothing, and its children neither."""
    found = await family(warm, tmp_path)
    worker, warden = found.bird.worker, found.bird.warden
    if not alive:
        await kill_warm(warm)
    for each in found.all:
        os.kill(each.pid, signal.SIGSTOP)
    if way == "stop":
        await found.bird.send("stop")
    elif way == "kill":
        await asyncio.to_thread(fleet.kill, str(warm.home), found.bird.id)
    else:
        await asyncio.to_thread(fleet.remove, str(warm.home), found.bird.id)
    assert await gone(*found.all, worker, warden)


@pytest.mark.long
async def test_a_stopped_fork_ends_with_its_worker_and_warden(warm: Warm, tmp_path: Path) -> None:
    """Both killed in the same instant: the warm process misses the door."""
    found = await family(warm, tmp_path)
    worker, warden = found.bird.worker, found.bird.warden
    os.kill(found.fork.pid, signal.SIGSTOP)
    os.kill(worker.pid, signal.SIGSTOP)
    tree.kill([warden, worker])
    assert await gone(*found.all, worker, warden)


@pytest.mark.long
async def test_a_dead_warm_processs_socket_is_replaced(warm: Warm) -> None:
    """After kill -9, or a power cut: the next start of a worker brings another."""
    before = warm.pid
    await kill_warm(warm)
    assert warm.socket.exists()
    warm_agent.ahead(str(warm.home), connectable)
    until(lambda: warm.pid != before, "no other warm process was started")


@pytest.mark.asyncio(loop_scope="session")
async def test_cancel_ends_what_the_command_started(agent: Agent, tmp_path: Path) -> None:
    """`sleep 611 & sleep 612`, and what left the group by nohup and setsid."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    jobs = "sleep 611 & echo $! >> pids; nohup sleep 613 >/dev/null 2>&1 & echo $! >> pids; "
    jobs += "setsid sh -c 'echo $$ >> pids; echo > ready; exec sleep 614' & "
    os.mkfifo(tmp_path / "ready")
    going = agent.prompt(session, [run(f"{jobs} sleep 612"), {"text": "Over."}])
    await status(agent, "in_progress")
    await asyncio.to_thread((tmp_path / "ready").read_text)
    found = [process(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(found) == 3
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(going)) == "cancelled"
    assert await gone(*found)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
async def test_a_cancel_reports_another_users_command_as_still_running(
    agent_home: Path, tmp_path: Path
) -> None:
    """The cancel is answered; the call says what still runs."""
    if os.geteuid() != 0:
        pytest.skip("only root starts something as another user")
    argv = [sys.executable, "-c", DEAF, *ARGV]
    agent = await Agent.start(argv, environment=surroundings(agent_home))
    left: list[Process] = []
    try:
        allow_all(agent)
        session = await agent.begin(str(tmp_path))
        os.mkfifo(tmp_path / "ready")
        other = f"import os; print(os.getpid(), file=open('ready', 'w'), flush=True); {OTHER}"
        script = tmp_path / "other.py"
        script.write_text("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + other)
        going = agent.prompt(
            session, [run(f"{shlex.quote(sys.executable)} other.py"), {"text": "Over."}]
        )
        await status(agent, "in_progress")
        pid = await asyncio.to_thread((tmp_path / "ready").read_text)
        left.append(process(pid))
        until(lambda: os.stat(f"/proc/{int(pid)}").st_uid == 65534, "it is not another user's")
        agent.notify("session/cancel", sessionId=session)
        assert stop_reason(await agent.answer(going)) == "cancelled"
        words = f"as another user, who alone may end it: sleep 1000 (pid {int(pid)})"
        await agent.until(lambda line: words in str(line.get("params")))
        assert tree.still_alive(left)
    finally:
        await agent.kill()
        tree.kill(left)
