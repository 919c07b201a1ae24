"""An agent that does not stay up, under a real worker."""

from rookery.core.json.events import Event
from tests.worker.aviary import Aviary, is_agent

DIES = ["/bin/sh", "-c", "echo 'please log in first' >&2; exit 3"]


def parked(events: list[Event]) -> list[Event]:
    return [event for event in events if is_agent(event, "parked")]


async def test_an_agent_that_always_dies_is_parked_once_and_tried_again(aviary: Aviary) -> None:
    bird = aviary.hatch(argv=DIES)
    for number in range(4):
        events = await bird.turn("hello")
        assert events[-1].update["reason"] == "agent_exited"
        assert len(parked(bird.events())) == (number == 3)
    [event] = parked(bird.events())
    assert event.update["status"] == 3
    assert event.update["stderr"] == ["please log in first"]
    assert event.update["remedy"].startswith("Log in to player")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert bird.header().process["state"] == "parked", "it outlives its worker"
    await bird.turn("and now?")
    assert len(parked(bird.events())) == 2, "one try, one notice"
    begun = await bird.send("restart")
    await bird.until(lambda event: is_agent(event, "parked"), begun.seq)
