"""Park and recovery: parked once, one notice with the remedy, and the way back works, also after a
kill -9 of the worker."""

from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.blocks.document import Block
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, blocks, is_agent, kinds, text_of
from tests.worker.companions import introduce

BROKEN = {"start": {"crash": 3, "stderr": "please log in first"}}
LIMITED = {
    "turns": [[{"rate_limit": "2099-01-01T00:00:00Z", "message": "slow"}]],
    "otherwise": [{"text": "heard: $prompt"}],
}


def notices(bird: Bird, begins: str) -> list[Block]:
    found = fold(None, bird.events()).blocks.values()
    return [block for block in found if block["title"].startswith(begins)]


def states(bird: Bird, state: str) -> list[Event]:
    return [event for event in bird.events() if is_agent(event, state)]


def command(block: Block, label: str) -> dict[str, Any]:
    [found] = [action for action in block["actions"] if action["label"] == label]
    return dict(found["command"])


async def act(bird: Bird, given: dict[str, Any]) -> Event:
    """What a client's button does: it sends the finished command."""
    fields = {key: value for key, value in given.items() if key != "do"}
    return await bird.send(given["do"], **fields)


async def kill_worker(bird: Bird) -> None:
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker, bird.warden)


async def parked(aviary: Aviary) -> Bird:
    introduce(aviary, None, crow=BROKEN, jay={})
    bird = aviary.hatch(agent="crow", argv=[])
    for _ in range(4):
        assert await bird.reason("count the owls") == "agent_exited"
    return bird


@pytest.mark.parametrize("killed", [False, True])
async def test_a_crash_loop_is_parked_once_and_retry_brings_it_back(
    aviary: Aviary, killed: bool
) -> None:
    bird = await parked(aviary)
    [notice] = notices(bird, "crow did not start.")
    assert "Log in to crow" in notice["title"]
    assert notice["text"] == "please log in first"
    if killed:
        await kill_worker(bird)
        assert bird.header().process["state"] == "parked"
    introduce(aviary, None, crow={}, jay={})
    begun = await act(bird, command(notice, "Send again"))
    await bird.until(lambda event: is_agent(event, "ready"), begun.seq)
    assert await bird.reason("count the owls") == "end_turn"
    assert len(states(bird, "parked")) == 1
    assert bird.header().process["state"] == "ready"


@pytest.mark.parametrize("killed", [False, True])
async def test_another_agent_is_a_way_out_of_a_crash_loop(aviary: Aviary, killed: bool) -> None:
    bird = await parked(aviary)
    if killed:
        await kill_worker(bird)
    [notice] = notices(bird, "crow did not start.")
    await act(bird, {**command(notice, "Continue with another agent"), "agent": "jay"})
    assert text_of(await bird.turn("hi")) == "You said: hi"
    assert len(states(bird, "parked")) == 1


@pytest.mark.parametrize("killed", [False, True])
async def test_a_rate_limit_is_reported_once_and_resume_now_resends_the_prompt(
    aviary: Aviary, killed: bool
) -> None:
    introduce(aviary, None, crow=LIMITED, jay={})
    bird = aviary.hatch(agent="crow", argv=[])
    assert await bird.reason("count the owls") == "rate_limited"
    [notice] = notices(bird, "Rate limit reached")
    assert "2099" in notice["text"]
    if killed:
        await kill_worker(bird)
        assert bird.header().rate_limit["prompt"] == blocks("count the owls")
        assert not aviary.wait_empty(), "nothing starts by itself"
    again = await act(bird, command(notice, "Retry now"))
    end = await bird.ended(again)
    assert end.update["reason"] == "end_turn"
    assert text_of(bird.events(again.seq, end.seq)) == "heard: count the owls"
    limits = [event for event in bird.events() if kind_of(event.update) == "_rate_limit"]
    assert len(limits) == 1
    assert bird.header().rate_limit is None


@pytest.mark.parametrize("killed", [False, True])
async def test_another_agent_is_a_way_out_of_a_rate_limit(aviary: Aviary, killed: bool) -> None:
    introduce(aviary, None, crow=LIMITED, jay={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("count the owls")
    if killed:
        await kill_worker(bird)
    [notice] = notices(bird, "Rate limit reached")
    event = await act(bird, {**command(notice, "Continue with another agent"), "agent": "jay"})
    assert event.update["reason"] == "rate_limited"
    assert bird.header().rate_limit is None
    assert await bird.reason("count the owls") == "end_turn"


async def test_a_turn_that_failed_is_sent_again_as_it_was(aviary: Aviary) -> None:
    """Also one that is long over; not while a turn runs, and not one that never was."""
    wrong = {"error": {"message": "no luck"}}
    turns = [[wrong], [wrong], [{"text": "heard: $prompt"}], [{"until": "cancel"}]]
    bird = aviary.hatch({"turns": turns})
    for words in ("count the owls", "count the crows"):
        assert await bird.reason(words) == "failed"
    first, _ = notices(bird, "The agent returned an error")
    again = await act(bird, command(first, "Send again"))
    end = await bird.ended(again)
    assert text_of(bird.events(again.seq, end.seq)) == "heard: count the owls"
    with pytest.raises(Rejected, match="no longer in the log"):
        await bird.send("retry", turn=9)
    await bird.prompt("wait")
    with pytest.raises(Rejected, match="A turn is running: cancel it first"):
        await bird.send("retry")


async def test_at_the_worker_limit_an_idle_session_makes_room(aviary: Aviary) -> None:
    """Nobody has to stop it by hand, and it wakes for its own next prompt."""
    introduce(aviary, {"max_workers": 1}, crow={})
    first, second = (aviary.hatch(agent="crow", argv=[]) for _ in range(2))
    await first.turn("hi")
    worker = first.worker
    assert await second.reason("hi") == "end_turn"
    await first.gone(worker)
    worker = second.worker
    assert await first.reason("again") == "end_turn"
    await second.gone(worker)


async def test_an_agent_killed_while_restoring_keeps_its_conversation(aviary: Aviary) -> None:
    """However often, by whomever; it is no failure of the conversation's."""
    start = {"crash_on": "session/resume", "crash": {"signal": "SIGKILL"}, "times": 3}
    aviary.configure(crash_most=100)
    bird = aviary.hatch({"start": start})
    assert await bird.reason("hello") == "end_turn"
    await bird.send("stop")
    for _ in range(2):
        assert await bird.reason("are you there?") == "agent_exited"
    assert await bird.reason("and now?") == "end_turn"
    assert "_context" not in kinds(bird.events())
