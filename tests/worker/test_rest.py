"""A worker that has nothing to do goes to sleep by itself, and a prompt wakes it."""

from rookery.home import seen
from tests.worker.aviary import Aviary, is_agent


async def test_an_idle_worker_stops_and_the_next_prompt_wakes_and_resumes(
    aviary: Aviary,
) -> None:
    aviary.configure(idle_stop_secs=0.3)
    bird = aviary.hatch()
    events = await bird.turn("hello")
    worker, agent = bird.worker, bird.agent
    stopped = await bird.until(lambda event: is_agent(event, "stopped"), events[-1].seq)
    assert stopped.update["reason"] == "idle"
    await bird.gone(worker, agent)
    events = await bird.turn("again")
    assert events[-1].update["reason"] == "end_turn"
    [ready] = [event for event in events if is_agent(event, "ready")]
    assert ready.update["how"] == "resume"


async def test_a_running_turn_is_never_stopped_for_it(aviary: Aviary) -> None:
    aviary.configure(idle_stop_secs=0.2)
    bird = aviary.hatch()
    events = await bird.turn([{"text": "a"}, {"wait": 1.0}, {"text": "b"}])
    assert events[-1].update["reason"] == "end_turn"


async def test_one_whose_result_was_read_stops_sooner(aviary: Aviary) -> None:
    aviary.configure(read_stop_secs=0.2)
    unread, read = aviary.hatch(), aviary.hatch()
    await unread.turn("hello")
    events = await read.turn("hello")
    worker = read.worker
    seen.mark(str(read.directory), events[-1].seq)
    await read.gone(worker)
    assert unread.worker
    assert not [event for event in unread.events() if is_agent(event, "stopped")]
