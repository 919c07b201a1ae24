"""What a kill leaves in the files of a home is taken away by who comes next."""

import asyncio
import os
import signal
import sys

import pytest

from rookery.home import paths
from rookery.processes import cgroups, roots, tree
from rookery.processes.lineage import home_tag
from tests.worker.aviary import Aviary

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def groups(aviary: Aviary) -> list[str]:
    """The control groups of a home's workers."""
    prefix = f"{cgroups.PREFIX}{home_tag(aviary.home)}."
    found = [name for parent in cgroups._parents() for name in os.listdir(parent)]
    return [name for name in found if name.startswith(prefix)]


async def test_a_write_that_was_cut_off_leaves_no_file(aviary: Aviary) -> None:
    """Killed between the bytes and the name; a writer that lives is left alone."""
    bird = aviary.hatch()
    dead = await asyncio.create_subprocess_exec("true")
    await dead.wait()
    for pid in (dead.pid, os.getpid()):
        (bird.directory / f"{paths.WORKER}.{pid}.0badcafe.tmp").write_bytes(b'{"pi')
    assert await bird.reason("hello") == "end_turn"
    left = [path.name for path in bird.directory.glob("*.tmp")]
    assert left == [f"{paths.WORKER}.{os.getpid()}.0badcafe.tmp"]


async def test_an_orderly_stop_removes_records_of_killed_processes(aviary: Aviary) -> None:
    """Warden and worker die in the same instant, and nobody else starts in that home."""
    quiet, struck = aviary.hatch(), aviary.hatch()
    for bird in (quiet, struck):
        assert await bird.reason("hello") == "end_turn"
    many = len(groups(aviary))  # none where none may be made
    assert len(os.listdir(roots.directory(aviary.home))) == 2
    below = tree.descendants(struck.record["warden"])
    victims = [struck.warden, *below]
    for victim in victims:  # none of them sees another one's end
        os.kill(victim.pid, signal.SIGSTOP)
    tree.kill(victims)
    await struck.gone(*victims)
    assert len(groups(aviary)) == many
    assert len(os.listdir(roots.directory(aviary.home))) == 2
    warden = quiet.warden
    await quiet.send("stop")
    await quiet.gone(warden)
    assert groups(aviary) == []
    assert os.listdir(roots.directory(aviary.home)) == []
