"""An ask that nobody answers in time, in a real worker."""

from rookery.core.json.events import Event, kind_of
from tests.worker.aviary import Aviary, text_of
from tests.worker.test_watchdogs import hatch

ASK = {"ask": {"title": "Write a", "kind": "edit", "rejected": [{"text": "then not"}]}}


def is_closed(event: Event) -> bool:
    return kind_of(event.update) == "_ask" and event.update["state"] == "closed"


async def test_an_ask_that_nobody_answers_in_time_is_rejected_and_said(aviary: Aviary) -> None:
    bird = hatch(aviary, ask_timeout=0.3)
    events = await bird.turn([ASK])  # it follows: somebody is attached
    [closed] = [event for event in events if is_closed(event)]
    assert closed.by == "rule:ask_timeout"
    assert closed.update["outcome"] == {"outcome": "selected", "optionId": "reject"}
    [notice] = [event.update for event in events if kind_of(event.update) == "_notice"]
    assert "No answer within 0.3 s: Write a" in notice["text"]
    assert text_of(events) == "then not"
    assert events[-1].update["reason"] == "end_turn"


async def test_an_ask_is_closed_once_when_the_answer_comes_first(aviary: Aviary) -> None:
    bird = hatch(aviary, ask_timeout=20)
    begun = await bird.prompt([ASK])
    await bird.answer(await bird.ask(begun), "allow")
    end = await bird.ended(begun)
    assert [event.by for event in bird.events(begun.seq, end.seq) if is_closed(event)] != [
        "rule:ask_timeout"
    ]
