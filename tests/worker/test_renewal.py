"""Workers of another build, and workers that do not answer."""

import os
import signal
import sys
from pathlib import Path

from rookery.build import build
from rookery.cli.commands.look.ps import is_stale
from rookery.client import fleet
from rookery.client.liveness import Asked, hung
from rookery.client.start import start_worker
from rookery.client.update import workers
from rookery.core.json.events import Event
from rookery.wire.frames import Link
from tests.daemon.adoption import adopt
from tests.worker.aviary import Aviary, Bird, Steps, blocks, is_agent, is_ask, is_idle, is_text

PROGRAM = str(Path(__file__).parent / "older.py")
OLDER, NEWER, UNSTAMPED = "0.0.1+older", "99.0.0+newer", "0.1.0"


def older(aviary: Aviary, name: str = OLDER) -> Bird:
    bird = aviary.hatch()
    start_worker(bird.home, bird.id, argv=[sys.executable, PROGRAM, name])
    return bird


async def begin(bird: Bird, steps: Steps) -> None:
    """As its own client did: a prompt of today's would have replaced the worker first."""
    async with bird.client() as client:
        link = await Link.open(bird.socket, "earlier", client.log.last_seq())
        assert link is not None
        link.command({"id": "earlier", "do": "prompt", "prompt": blocks(steps)})
        while not any(event.cause == "earlier" for event in bird.events()):
            assert await link.frame() is not None
        await link.close()


def stops(bird: Bird) -> list[Event]:
    return [event for event in bird.events() if is_agent(event, "stopped")]


async def test_an_idle_worker_of_another_build_is_replaced_by_the_next_prompt(
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


async def test_a_daemon_adopts_a_worker_of_another_build_in_mid_turn(aviary: Aviary) -> None:
    bird = older(aviary)
    steps: Steps = [
        {"ask": "Really?", "allowed": [{"text": "thank you"}]},
        {"text": "still at it"},
        {"until": "cancel"},
    ]
    await begin(bird, steps)
    await bird.until(is_ask)
    await adopt(bird, OLDER)
    assert bird.record["build"] == build(), "replaced once it was idle"


async def test_a_worker_of_another_build_is_kept_until_it_is_idle(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"text": "x"}, {"until": "cancel"}])
    await bird.until(is_text, begun.seq)
    async with bird.client() as client:
        outcome = await client.send({"do": "stop", "idle": True, "newer": True}, wake=False)
        assert outcome.update["detail"] == "busy"
    assert stops(bird) == []
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"


async def test_no_worker_is_replaced_by_an_older_build(aviary: Aviary) -> None:
    """Neither by today's client, which sees that the worker is newer, nor by an earlier one, which
    asks every worker of another build to stop."""
    bird = older(aviary, NEWER)
    worker = bird.worker
    assert not is_stale(fleet.heads(aviary.home)[0])
    assert await bird.reason("hello") == "end_turn"
    assert (await bird.send("stop", idle=True)).update["detail"] == "busy"
    assert workers.older(aviary.home) == []
    assert (bird.worker, bird.record["build"]) == (worker, NEWER)


async def test_after_an_update_idle_workers_sleep_and_busy_ones_when_they_have_answered(
    aviary: Aviary,
) -> None:
    resting, asking, today = older(aviary, UNSTAMPED), older(aviary), aviary.hatch()
    await today.turn("hello")
    await begin(asking, [{"ask": "Really?", "allowed": [{"text": "thank you"}]}])
    asked = await asking.until(is_ask)
    found = workers.older(aviary.home)
    assert set(found) == {resting.id, asking.id}
    assert workers.put_to_sleep(aviary.home, found) == [asking.id]
    assert [event.update["reason"] for event in stops(resting)] == ["stale"]
    assert workers.older(aviary.home) == [asking.id]
    old = asking.worker
    workers.watch(aviary.home)
    await asking.answer(asked.update, "allow")
    await asking.until(lambda event: is_agent(event, "stopped"), asked.seq)
    await asking.gone(old)
    assert [is_text(event, "thank you") for event in asking.events()].count(True) == 1
    assert stops(today) == []
    for bird in (resting, asking):
        assert await bird.reason("again") == "end_turn"
        assert bird.record["build"] == build()


async def test_a_command_that_a_turn_left_running_keeps_its_worker(aviary: Aviary) -> None:
    bird = older(aviary)
    await begin(bird, [{"command": "sleep 1000", "background": True}, {"text": "left it"}])
    await bird.until(is_idle)
    worker = bird.worker
    assert workers.put_to_sleep(aviary.home, [bird.id]) == [bird.id]
    async with bird.client() as client:
        outcome = await client.send({"do": "stop", "idle": True, "newer": True}, wake=False)
        assert outcome.update["detail"] == "busy", "today's worker looks for itself"
    assert await bird.reason("and more") == "end_turn"
    assert (bird.worker, stops(bird)) == (worker, [])


async def test_a_worker_that_does_not_answer_is_hung_and_can_be_killed(aviary: Aviary) -> None:
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
    assert not any(head.get("damaged") for head in fleet.heads(aviary.home))
    assert asked.silent() == set()
