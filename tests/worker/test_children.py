"""A cancel ends what the cancelled call started, and nothing else."""

import asyncio
import sys

import pytest

from rookery.processes import tree
from tests.worker.aviary import Aviary, Steps, is_idle
from tests.worker.test_terminals import LEAVE, call, ended, process_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells who started whom")

WAYS = LEAVE | {"a job": "sleep 611 >/dev/null & echo pid $!; sleep 612"}
SERVER = "echo pid $$; exec sleep 1000"


@pytest.mark.parametrize("way", WAYS)
async def test_cancel_ends_what_the_call_started(aviary: Aviary, way: str) -> None:
    """Of a terminal that is waited for, in whatever way it left its group."""
    bird = aviary.hatch()
    waits = way != "long after its end"
    steps = [{"command": WAYS[way]}] if waits else [call("create", command=WAYS[way])]
    begun = await bird.prompt([*steps, {"until": "cancel"}])
    child = await process_in(bird, begun.seq)
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    await bird.gone(child)
    assert tree.still_alive([bird.agent])


@pytest.mark.long
async def test_an_explicit_background_call_outlives_a_cancel(aviary: Aviary) -> None:
    """The call said that it runs in the background; what runs beside it ends."""
    bird = aviary.hatch({"agent": {"steering": True}})
    steps: Steps = [{"command": SERVER, "background": True}, {"until": "steer"}]
    begun = await bird.prompt([*steps, {"command": WAYS["a job"]}])
    server = await process_in(bird, begun.seq)
    since = bird.events()[-1].seq
    await bird.prompt("go on", steer=True)
    job = await process_in(bird, since)
    assert job != server
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    await bird.gone(job)
    await asyncio.to_thread(tree.wait_gone, [server], 3.0)  # longer than TERM and KILL take
    assert tree.still_alive([server])
    await bird.send("stop")
    await bird.gone(server)


@pytest.mark.long
async def test_processes_of_an_earlier_turn_outlive_a_cancel(aviary: Aviary) -> None:
    """The cancelled turn did not start it."""
    bird = aviary.hatch()
    await bird.turn([call("create", command=SERVER)])
    server = await process_in(bird)
    begun = await bird.prompt([{"command": WAYS["a job"]}])
    job = await process_in(bird, begun.seq)
    await bird.send("cancel")
    await bird.until(is_idle, begun.seq)
    await bird.gone(job)
    assert (await ended(bird, begun.seq))["signal"] == "SIGTERM"
    await asyncio.to_thread(tree.wait_gone, [server], 3.0)
    assert tree.still_alive([server])
