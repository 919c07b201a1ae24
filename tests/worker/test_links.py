"""Asks with a link in a real worker: only a person opens it, and its completion takes it back."""

import asyncio
from typing import Any

import pytest

from rookery.core.blocks import captions
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from tests.worker.aviary import Aviary, Bird, Steps, kill_workers, text_of

type Json = dict[str, Any]

URL = "https://auth.example.com/authorize?client_id=1"
DONE = {"notify": "elicitation/complete", "params": {"elicitationId": "e1"}}
LINK: Json = {
    "question": "Log in",
    "url": URL,
    "elicitationId": "e1",
    "accepted": [{"text": "accepted"}],
    "declined": [{"text": "declined"}],
    "cancelled": [{"text": "cancelled"}],
}


async def held(bird: Bird, *steps: Json) -> tuple[Event, Json]:
    begun = await bird.prompt(list(steps))
    return begun, await bird.ask(begun)


async def act(bird: Bird, ask: Json, action: str) -> Event:
    return await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], action=action)


def outcome(bird: Bird) -> str:
    blocks = fold(None, bird.events()).blocks.values()
    [block] = [each for each in blocks if each["role"] == "ask"]
    return captions.outcome(block)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_the_agent_hears_what_the_user_did(aviary: Aviary, action: str) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, LINK)
    assert ask["url"] == URL
    await act(bird, ask, action)
    await bird.ended(begun)
    assert text_of(bird.events()) == {"accept": "accepted", "decline": "declined"}.get(
        action, "cancelled"
    )


async def test_a_completion_takes_back_what_nobody_answered_here(aviary: Aviary) -> None:
    """Twice, and for an unknown id, too: that is no error and no news."""
    bird, unknown = aviary.hatch(), {**DONE, "params": {"elicitationId": "other"}}
    later: Steps = [{"wait": 0.05}, unknown, DONE, DONE]
    events = await bird.turn([{"together": [LINK, {"together": later}]}])
    assert text_of(events) == "accepted"
    assert outcome(bird) == "Done in the browser"
    assert bird.header().asks == {}
    asks = [event for event in events if kind_of(event.update) == "_ask"]
    assert [each.update["state"] for each in asks] == ["asked", "closed"]
    assert not [each for each in events if kind_of(each.update) in ("_raw", "_notice")]


async def test_a_completion_after_the_answer_is_shown(aviary: Aviary) -> None:
    bird = aviary.hatch()
    steps = [{"text": "accepted"}, {"until": "cancel", "then": [DONE, DONE]}]
    begun, ask = await held(bird, LINK | {"accepted": steps})
    await act(bird, ask, "accept")
    assert outcome(bird) == "Opened it · test · waiting for the browser"
    await bird.send("cancel")
    await bird.ended(begun)
    assert outcome(bird) == "Opened it · test · done in the browser"


async def test_one_of_many_answers_counts(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, LINK)
    answers = await asyncio.gather(
        *(act(bird, ask, each) for each in ("accept", "decline", "accept"))
    )
    await bird.ended(begun)
    assert sorted(kind_of(each.update) for each in answers) == ["_ask", "_done", "_done"]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd"])
async def test_another_scheme_is_refused_and_the_user_is_told(aviary: Aviary, address: str) -> None:
    params = {"mode": "url", "message": "Click", "url": address, "elicitationId": "e1"}
    bird = aviary.hatch()
    asking = {"request": "elicitation/create", "params": {"sessionId": "s", **params}}
    events = await bird.turn([asking, {"text": "$answer"}])
    assert text_of(events).startswith("-32602: only http and https addresses are opened")
    [notice] = [each.update for each in events if kind_of(each.update) == "_notice"]
    assert address in notice["text"]
    assert not [each for each in events if kind_of(each.update) == "_ask"]


async def test_a_session_that_approves_all_declines_it(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.send("set", option="unattended", value="all")
    events = await bird.turn([LINK])
    assert text_of(events) == "declined"


async def test_it_stands_after_its_worker_was_killed(aviary: Aviary) -> None:
    bird = aviary.hatch()
    _, ask = await held(bird, LINK)
    worker = bird.worker
    kill_workers([bird.directory])
    await bird.gone(worker)
    again = await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], action="accept")
    # Kept until the agent asks again, which it may have done before the answer came.
    assert again.update["state"] in ("answered", "closed")
    await bird.until(lambda event: "accepted" in str(event.update), again.seq)
    assert bird.header().asks == {}


async def test_between_turns_it_is_answered_as_well(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn([{"late": [LINK]}, {"text": "hello"}])
    outcome = await act(bird, await bird.ask(events[0]), "accept")
    await bird.until(lambda event: "accepted" in str(event.update), outcome.seq)


async def test_between_turns_it_ends_with_its_agent(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn([{"late": [LINK]}, {"text": "hello"}])
    await bird.ask(events[0])
    await bird.send("restart")
    await bird.turn([{"text": "again"}])
    blocks = fold(None, bird.events()).blocks.values()
    [block] = [each for each in blocks if each["role"] == "ask"]
    assert (block["status"], captions.outcome(block)) == ("cancelled", "The agent ended")
    assert bird.header().asks == {}
