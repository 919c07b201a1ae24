"""A prompt that met a rate limit is sent again, also by a worker that comes later (row T11)."""

from rookery import paths
from rookery.core import limits
from rookery.core.events import Draft
from rookery.log.store import Writer
from tests.worker.aviary import Aviary, Bird, blocks, is_idle, text_of

LONG_AGO = 1_000_000_000_000


async def test_the_park_outlives_a_worker_and_the_prompt_is_sent_once_more_t11(
    aviary: Aviary,
) -> None:
    aviary.configure(rate_limit_auto_resume=True)
    bird = aviary.hatch()
    limited(bird)
    await bird.send("start")
    end = await bird.until(lambda event: is_idle(event, 2))
    events = bird.events(0, end.seq)
    [again] = [event for event in events if event.update.get("origin") == limits.ORIGIN]
    assert (again.by, again.update["prompt"]) == (limits.BY, blocks("hello"))
    assert end.update["reason"] == "end_turn"
    assert text_of(events)


def limited(bird: Bird) -> None:
    """A session of long ago whose only turn met a limit, which is lifted by now."""
    [made] = bird.events()
    for file in bird.directory.glob(f"{paths.LOG}*"):
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
    assert bird.header()["since"] == LONG_AGO
