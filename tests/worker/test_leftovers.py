"""What worker and warden leave when both are killed is ended by whoever comes by."""

import os
import pty
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.client.leftovers import end_leftovers
from rookery.core.json.events import kind_of
from rookery.processes import cgroups, strays, tree
from rookery.processes.lineage import home_tag
from rookery.processes.tree import Process
from tests.cli.driving import rookery
from tests.worker.aviary import Aviary, Bird
from tests.worker.test_terminals import call, process_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is marked")

DETACHED = "(setsid sh -c 'echo pid $$; exec sleep 1000 >/dev/null 2>&1' &)"
BARE = "(setsid env -i sh -c 'echo pid $$; exec sleep 1000 >/dev/null 2>&1' &)"


async def left_by(bird: Bird, command: str = DETACHED) -> Process:
    """What a session leaves whose worker and warden are killed in the same instant."""
    await bird.turn([call("create", command=command)])
    left = await process_in(bird)
    worker, warden, agent = bird.worker, bird.warden, bird.agent
    os.kill(worker.pid, signal.SIGSTOP)  # so that it cannot clean up
    tree.kill([warden, worker])
    await bird.gone(worker, warden, agent)
    assert tree.still_alive([left])
    return left


def notices(bird: Bird) -> str:
    said = [event.update for event in bird.events() if kind_of(event.update) == "_notice"]
    return " ".join(each["text"] for each in said)


@pytest.mark.parametrize("way", ["ps", "doctor"])
async def test_orphans_of_worker_and_warden_are_ended_by_any_look(aviary: Aviary, way: str) -> None:
    """It says what it ended, and the session's log does; once is enough."""
    bird = aviary.hatch()
    left = await left_by(bird)
    said = rookery(way)
    words = " ".join((said.out + said.err).split())
    assert f"session {bird.id}: sleep 1000 (pid {left.pid})" in words
    await bird.gone(left)
    assert f"sleep 1000 (pid {left.pid})" in notices(bird)
    again = rookery(way)
    assert "leftovers" not in again.out + again.err


async def test_orphans_of_worker_and_warden_are_ended_by_any_start(aviary: Aviary) -> None:
    """Another session of the home is woken."""
    bird, other = aviary.hatch(), aviary.hatch()
    left = await left_by(bird)
    await other.turn("hello")
    await bird.gone(left)
    assert f"sleep 1000 (pid {left.pid})" in notices(bird)


async def test_the_sessions_next_worker_says_what_it_ended(aviary: Aviary) -> None:
    bird = aviary.hatch()
    left = await left_by(bird)
    await bird.turn("hello")
    await bird.gone(left)
    assert f"sleep 1000 (pid {left.pid})" in notices(bird)


async def test_an_orphan_without_environment_is_known_by_its_control_group(aviary: Aviary) -> None:
    """By lineage: the control group is inherited whoever the parent becomes."""
    bird = aviary.hatch()
    await bird.turn("hello")
    if not cgroups.mark_of(bird.worker.pid, home_tag(aviary.home)):
        pytest.skip("no control group may be made here")
    left = await left_by(bird, BARE)
    [found] = end_leftovers(aviary.home, fleet.heads(aviary.home))
    assert [stray.process.pid for stray in found.ended] == [left.pid]
    await bird.gone(left)


async def test_an_awake_session_keeps_its_processes(aviary: Aviary) -> None:
    """Its lock is held."""
    bird = aviary.hatch()
    await bird.turn([call("create", command=DETACHED)])
    child = await process_in(bird)
    assert "leftovers" not in rookery("ps").err
    assert "leftovers" not in rookery("doctor").out
    assert tree.still_alive([child, bird.worker, bird.agent])


@pytest.fixture
def shell() -> Iterator[int]:
    """A person's own: a session leader with a terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.execvp("sh", ["sh", "-i"])
    try:
        yield terminal
    finally:
        os.kill(pid, signal.SIGHUP)
        os.close(terminal)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("how", ["", "setsid -w "])
async def test_processes_of_the_users_shell_are_spared(
    aviary: Aviary, shell: int, tmp_path: Path, how: str
) -> None:
    """Whatever its environment says: a person may have exported the mark."""
    bird = aviary.hatch()
    left = await left_by(bird)
    mark = bird.record["mark"]
    line = f"ROOKERY_MARK={mark} {how}sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000' &\n"
    os.mkfifo(tmp_path / "pid")
    os.write(shell, line.encode())
    own = tree.process(int((tmp_path / "pid").read_text()))
    assert own is not None
    [found] = end_leftovers(aviary.home, fleet.heads(aviary.home))
    assert [stray.process.pid for stray in found.ended] == [left.pid]
    assert tree.still_alive([own])
    tree.kill([own])


async def test_an_agents_commands_end_no_orphans(aviary: Aviary) -> None:
    bird = aviary.hatch()
    left = await left_by(bird)
    said = rookery("ps", ROOKERY_MARK=f"{bird.id}.00000000")
    assert "leftovers" not in said.err
    assert tree.still_alive([left])


async def test_a_forged_record_of_a_process_ends_nothing(aviary: Aviary) -> None:
    """The record of agents is a file that an agent can write, too: it lends its pen to nobody."""
    from rookery.processes import roots

    bird = aviary.hatch()
    await bird.turn("hello")
    await bird.send("stop")
    row = tree.process(os.getppid())  # anybody's
    assert row is not None
    roots.record(aviary.home, row.pid, row.start, f"{bird.id}.00000000")
    assert strays.find(aviary.home, {bird.id}) == []
