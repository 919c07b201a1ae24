"""A prompt that met a rate limit is sent again, also by a worker that comes later."""

import asyncio

import pytest

from rookery.core.json.events import Draft
from rookery.core.turn import rate_limit
from rookery.home import paths
from rookery.log.store import Writer
from tests.cli.driving import rookery
from tests.worker.aviary import Aviary, Bird, blocks, is_idle, text_of

LONG_AGO = 1_000_000_000_000


async def test_the_park_outlives_a_worker_and_the_prompt_is_sent_once_more(
    aviary: Aviary,
) -> None:
    aviary.configure(rate_limit_auto_resume=True)
    bird = aviary.hatch()
    limited(bird)
    await bird.send("start")
    end = await bird.until(lambda event: is_idle(event, 2))
    events = bird.events(0, end.seq)
    [again] = [event for event in events if event.update.get("origin") == rate_limit.ORIGIN]
    assert (again.by, again.update["prompt"]) == (rate_limit.BY, blocks("hello"))
    assert end.update["reason"] == "end_turn"
    assert text_of(events)


async def resumed(bird: Bird) -> None:
    """It came awake by itself, and its prompt was sent once more."""
    end = await bird.until(lambda event: is_idle(event, 2))
    [again] = [each for each in bird.events() if each.update.get("origin") == rate_limit.ORIGIN]
    assert again.update["prompt"] == blocks("hello")
    assert end.update["reason"] == "end_turn"


async def test_a_sleeping_session_resumes_once_somebody_lists_it(aviary: Aviary) -> None:
    """As after a reboot."""
    aviary.configure(rate_limit_auto_resume=True)
    bird = aviary.hatch()
    limited(bird)
    done = await asyncio.to_thread(rookery, "ps", ROOKERY_HOME=aviary.home)
    assert done.code == 0
    await resumed(bird)


@pytest.mark.long
async def test_a_stopped_session_resumes_when_the_limit_is_lifted(
    aviary: Aviary,
) -> None:
    """A small process waits for it, and ends then; the stop says so."""
    aviary.configure(rate_limit_auto_resume=True, rate_limit_grace=0, rate_limit_least=4)
    bird = aviary.hatch()
    await bird.turn([{"rate_limit": "2001-09-09T01:46:40Z"}])
    worker = bird.worker
    done = await asyncio.to_thread(rookery, "stop", bird.id, ROOKERY_HOME=aviary.home)
    assert "prompt is sent again" in done.err
    await bird.gone(worker)
    again = await bird.until(lambda event: event.update.get("origin") == rate_limit.ORIGIN)
    assert again.update["turn"] == 2
    # It meets the limit again, and is archived: nothing wakes it any more.
    await bird.until(lambda event: is_idle(event, 2))
    await bird.send("archive")
    assert not await asyncio.to_thread(aviary.wait_empty)


async def test_archived_and_unwilling_sessions_are_not_resumed(aviary: Aviary) -> None:
    bird = aviary.hatch()
    limited(bird)
    await asyncio.to_thread(rookery, "ps", ROOKERY_HOME=aviary.home)
    assert aviary.processes() == []
    aviary.configure(rate_limit_auto_resume=True)
    await bird.send("archive")
    await asyncio.to_thread(rookery, "ps", ROOKERY_HOME=aviary.home)
    assert aviary.processes() == []
    assert bird.header().turn == 1


def limited(bird: Bird) -> None:
    """A session of long ago whose only turn met a limit, which is lifted by now."""
    [made] = bird.events()
    for file in (*bird.directory.glob(f"{paths.LOG}*"), bird.directory / paths.HEAD):
        file.unlink()
    limit = {"sessionUpdate": "_rate_limit", "message": "slow", "resetsAt": LONG_AGO}
    updates = [
        made.update,
        {"sessionUpdate": "_prompt", "turn": 1, "prompt": blocks("hello")},
        {"sessionUpdate": "_turn", "state": "running", "turn": 1},
        {**limit, "prompt": blocks("hello")},
        {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "rate_limited"},
    ]
    writer = Writer.open(str(bird.directory), create=True, clock=lambda: LONG_AGO)
    try:
        writer.append([Draft(update) for update in updates])
    finally:
        writer.close()
    assert bird.header().since == LONG_AGO


async def test_a_sleeping_session_continues_then_where_the_user_says_so(aviary: Aviary) -> None:
    """Without the setting: the order is logged, and wakes it once; given twice, it is one."""
    bird = aviary.hatch()
    limited(bird)
    for _ in range(2):
        await bird.send("resume")
    await resumed(bird)
    assert bird.header().turn == 2


async def test_an_order_that_is_taken_back_wakes_nothing(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn([{"rate_limit": "2099-01-01T00:00:00Z"}])
    await bird.send("resume")
    assert bird.header().resumes
    await bird.send("resume", off=True)
    assert not bird.header().resumes
    await bird.send("stop")


async def test_where_nothing_met_a_limit_there_is_nothing_to_continue(aviary: Aviary) -> None:
    bird = aviary.hatch()
    outcome = await bird.send("resume")
    assert outcome.update["sessionUpdate"] == "_done"
    assert not bird.header().resumes
