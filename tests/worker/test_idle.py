"""A session that waits costs nothing: nobody in it wakes up to look at something."""

import asyncio
import sys
from pathlib import Path

import pytest

from rookery.processes import tree
from rookery.worker.host import OFTEN, SELDOM
from tests.worker.aviary import PATIENCE, Aviary, Bird

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells how often one slept")

ORPHAN = "sleep 0.3 & echo $! > orphan"


def sleeps(*pids: int) -> int:
    """How often they went to sleep by themselves: once for each time that something woke them."""
    found = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            lines = (task / "status").read_text().splitlines()
            found += sum(
                int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt")
            )
    return found


def all_of(bird: Bird) -> list[int]:
    warden = bird.warden.pid
    return [warden, *(row.pid for row in tree.descendants(warden))]


@pytest.mark.long
async def test_an_idle_session_is_woken_by_nothing(aviary: Aviary) -> None:
    """Worker, warden and agent together; a look every two seconds would show as three or four."""
    bird = aviary.hatch()
    await bird.turn("hello")
    await asyncio.sleep(2 * OFTEN)  # what the turn left to do
    pids = all_of(bird)
    before = sleeps(*pids)
    await asyncio.sleep(SELDOM / 2)
    assert len(pids) == 3
    assert sleeps(*pids) - before <= 1


@pytest.mark.long
async def test_an_orphan_is_reaped_while_the_session_waits(aviary: Aviary) -> None:
    """The kernel tells that it ended: no look at a time of its own is needed."""
    bird = aviary.hatch()
    await bird.turn([{"command": ORPHAN}])
    orphan = int((aviary.work / "orphan").read_text())
    until = asyncio.get_running_loop().time() + PATIENCE
    while tree.process(orphan) is not None:  # dead ones are shown until somebody reaps them
        assert asyncio.get_running_loop().time() < until
        await asyncio.sleep(0.05)
