"""Workers of another build, and workers that do not answer (rows W7, H5)."""

import os
import signal
import sys
from pathlib import Path

from rookery.build import build
from rookery.cli.commands.look.ps import is_stale
from rookery.client import fleet
from rookery.client.liveness import Asked, hung
from rookery.client.session import Link
from rookery.client.start import start_worker
from rookery.core.json.events import Event
from tests.daemon.adoption import adopt
from tests.worker.aviary import Aviary, Bird, Steps, blocks, is_agent, is_ask, is_text

OLDER = str(Path(__file__).parent / "older.py")


def older(aviary: Aviary) -> Bird:
    bird = aviary.hatch()
    start_worker(bird.home, bird.id, argv=[sys.executable, OLDER])
    return bird


def stops(bird: Bird) -> list[Event]:
    return [event for event in bird.events() if is_agent(event, "stopped")]


async def test_an_idle_worker_of_another_build_is_replaced_by_the_next_prompt_w7(
    aviary: Aviary,
) -> None:
    bird = older(aviary)
    worker = bird.worker
    [head] = fleet.heads(aviary.home)
    assert is_stale(head)
    await bird.send("rename", title="looked at")
    assert bird.worker == worker, "looking at it, and small things, restart nothing"
    assert await bird.reason("hello") == "end_turn"
    assert bird.record["build"] == build()
    assert bird.worker != worker
    [stopped] = stops(bird)
    assert stopped.update["reason"] == "stale"
    [head] = fleet.heads(aviary.home)
    assert not is_stale(head)


async def test_D3_W7_the_daemon_adopts_it_in_mid_turn(aviary: Aviary) -> None:
    bird = older(aviary)
    async with bird.client() as client:
        steps: Steps = [
            {"ask": "Really?", "allowed": [{"text": "thank you"}]},
            {"text": "still at it"},
            {"until": "cancel"},
        ]
        # As its own client did: a prompt of today's would have replaced it first.
        link = await Link.open(bird.socket, "earlier", client.log.last_seq())
        assert link is not None
        link.command({"id": "earlier", "do": "prompt", "prompt": blocks(steps)})
        await bird.until(is_ask)
        await link.close()
    await adopt(bird, "0.0.1+older")
    assert bird.record["build"] == build(), "replaced once it was idle"


async def test_in_mid_turn_it_is_kept_until_it_is_idle_w7(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"text": "x"}, {"until": "cancel"}])
    await bird.until(is_text, begun.seq)
    async with bird.client() as client:
        outcome = await client.send({"do": "stop", "idle": True}, wake=False)
        assert outcome.update["detail"] == "busy"
    assert stops(bird) == []
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"


async def test_a_worker_that_does_not_answer_is_hung_and_can_be_killed_h5(aviary: Aviary) -> None:
    one, other = aviary.hatch(), aviary.hatch()
    await one.turn("hello")
    await other.turn("hello")
    assert hung(aviary.home, [one.id, other.id]) == set()
    attached = other.record["attached"]
    os.kill(one.worker.pid, signal.SIGSTOP)
    assert hung(aviary.home, [one.id, other.id], patience=0.3) == {one.id}
    assert other.record["attached"] == attached, "a look is no client"
    worker = one.worker
    fleet.kill(aviary.home, one.id)
    await one.gone(worker)
    assert await one.reason("again") == "end_turn"


async def test_a_worker_answers_while_something_else_is_done(aviary: Aviary) -> None:
    one, other = aviary.hatch(), aviary.hatch()
    for bird in (one, other):
        await bird.turn("Hello.")
    asked = Asked(aviary.home, [one.id, other.id, "0000000000"])
    assert fleet.unreadable(aviary.home, fleet.heads(aviary.home)) == []
    assert asked.silent() == set()
