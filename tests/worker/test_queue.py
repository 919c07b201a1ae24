"""Prompts that wait, and prompts that go into the turn that runs, in a real worker."""

from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, Steps, blocks, is_idle, is_text, text_of

type Json = dict[str, Any]

HELD: Steps = [
    {"ask": "Go on?", "allowed": [{"text": "first. "}], "rejected": [{"stop": "refusal"}]}
]


class Waiting:
    """A bird whose turn waits for an answer, with prompts behind it."""

    def __init__(self, bird: Bird, ask: Json, names: list[str]) -> None:
        self.bird = bird
        self.ask = ask
        self.names = names

    async def change(self, op: str, item: int | None = None, **fields: Any) -> Event:
        given = {} if item is None else {"item": self.names[item]}
        return await self.bird.send("queue", op=op, **given, **fields)

    def queue(self) -> list[str]:
        """What waits, as a client sees it."""
        return [item["prompt"][0]["text"] for item in self.bird.header().queue]

    async def finish(self, option: str = "allow") -> str:
        """Answer, and all that the agent says until nothing waits or the queue is held."""
        await self.bird.answer(self.ask, option)
        await self.bird.until(lambda event: is_idle(event) and self.is_still())
        return text_of(self.bird.events())

    def is_still(self) -> bool:
        header = self.bird.header()
        return header.state == "idle" and (not header.queue or header.reason != "end_turn")


async def waiting(aviary: Aviary, *texts: str, script: Json | None = None) -> Waiting:
    bird = aviary.hatch(script or {"otherwise": [{"text": "<$prompt>"}]})
    begun = await bird.prompt(HELD)
    ask = await bird.ask(begun)
    names = []
    for text in texts:
        event = await bird.prompt(text)
        assert kind_of(event.update) == "_queue"
        names.append(event.update["id"])
    return Waiting(bird, ask, names)


async def test_what_waits_is_sent_together_in_its_order(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one", "two", "three")
    assert waits.queue() == ["one", "two", "three"]
    # The player joins text blocks by a newline; the worker put a blank line between them.
    assert await waits.finish() == "first. <one\n\n\n\ntwo\n\n\n\nthree>"
    prompt = fold(None, waits.bird.events()).blocks
    assert [each["text"] for each in prompt.values() if each["role"] == "prompt"][1:] == [
        "one\n\ntwo\n\nthree"
    ]


async def test_slash_commands_go_alone(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one", "two", "/compact now", "three", "/clear", "/init")
    said = await waits.finish()
    assert said.replace("\n", "") == "first. <onetwo></compact now><three></clear></init>"


async def test_one_by_one_where_it_is_told_so(aviary: Aviary) -> None:
    aviary.configure(queue_drain="serial")
    waits = await waiting(aviary, "one", "two", "/x")
    assert await waits.finish() == "first. <one><two></x>"


async def test_the_queue_is_edited_moved_and_thinned(aviary: Aviary) -> None:
    aviary.configure(queue_drain="serial")
    waits = await waiting(aviary, "one", "two", "three", "four")
    await waits.change("edit", 1, prompt=blocks("2"))
    await waits.change("move", 3, to=0)
    await waits.change("remove", 0)
    assert waits.queue() == ["four", "2", "three"]
    await waits.change("send", 2)  # nothing is interrupted: it is the next
    assert waits.queue() == ["three", "four", "2"]
    assert await waits.finish() == "first. <three><four><2>"


async def test_what_is_gone_cannot_be_changed(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one")
    await waits.change("remove", 0)
    for op, fields in (
        ("edit", {"prompt": blocks("x")}),
        ("move", {}),
        ("remove", {}),
        ("send", {}),
    ):
        with pytest.raises(Rejected) as told:
            await waits.change(op, 0, **fields)
        assert told.value.reason == "not_queued"
    with pytest.raises(Rejected) as told:
        await waits.change("shuffle")
    assert told.value.reason == "unknown_operation"


async def test_after_any_other_end_it_is_held_until_it_is_sent(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one", "two", "three")
    await waits.finish("reject")
    assert waits.bird.header().reason == "refusal"
    assert waits.queue() == ["one", "two", "three"]
    sent = await waits.change("send", 1)  # that one alone
    end = await waits.bird.until(is_idle, sent.seq)
    assert "<two>" in text_of(waits.bird.events(sent.seq - 1))
    await waits.bird.until(lambda event: is_idle(event) and waits.is_still(), end.seq - 1)
    assert waits.queue() == []  # the turn ended well: the rest followed


async def test_a_held_queue_is_sent_with_one_key(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one", "two")
    await waits.finish("reject")
    sent = await waits.change("send")
    await waits.bird.until(is_idle, sent.seq)
    assert text_of(waits.bird.events(sent.seq - 1)).replace("\n", "") == "<onetwo>"


async def test_what_waits_survives_a_kill_and_is_held(aviary: Aviary) -> None:
    waits = await waiting(aviary, "one", "two", "three")
    await waits.change("move", 2, to=0)
    await waits.change("edit", 0, prompt=blocks("1"))
    tree.kill([waits.bird.worker])
    await waits.bird.until(is_idle)
    assert waits.bird.header().reason == "interrupted"
    assert waits.queue() == ["three", "1", "two"]
    await waits.bird.send("cancel")  # else what was asked comes first
    sent = await waits.change("send")
    await waits.bird.until(is_idle, sent.seq)
    assert text_of(waits.bird.events(sent.seq - 1)).replace("\n", "") == "<three1two>"


# --- steering ---------------------------------------------------------------------------------

STEERING: Json = {
    "agent": {"steering": True},
    "otherwise": [{"text": "<$prompt>"}],
}
LISTENS: Steps = [
    {"text": "working"},
    {"until": "steer", "then": [{"text": ", heard: $steered"}]},
    {"ask": "Enough?"},
]


async def test_a_prompt_goes_into_the_turn_that_runs(aviary: Aviary) -> None:
    """The turn is the same, and nothing was interrupted."""
    bird = aviary.hatch(STEERING)
    begun = await bird.prompt(LISTENS)
    await bird.until(lambda event: is_text(event, "working"), begun.seq)
    told = await bird.prompt("to the left", steer=True)
    ask = await bird.ask(begun)
    [steered] = [e for e in bird.events() if e.update.get("steered")]
    assert steered.update["queued"] == [told.update["id"]]
    assert steered.update["turn"] == begun.update["turn"]
    await bird.answer(ask, "allow")
    end = await bird.ended(begun)
    assert end.update["reason"] == "end_turn"
    assert text_of(bird.events()) == "working, heard: to the left"
    header = bird.header()
    assert (header.turn, header.queue) == (1, [])
    roles = [each["role"] for each in fold(None, bird.events()).blocks.values()]
    assert roles.count("prompt") == 2


async def test_an_agent_that_cannot_be_steered_gets_it_after_the_turn(aviary: Aviary) -> None:
    waits = await waiting(aviary)
    event = await waits.bird.prompt("later", steer=True)
    assert kind_of(event.update) == "_queue"
    assert await waits.finish() == "first. <later>"
    assert not any(each.update.get("steered") for each in waits.bird.events())


async def test_a_prompt_that_comes_too_late_for_the_turn_is_the_next(aviary: Aviary) -> None:
    """The agent is asked, says no, and the prompt is not lost."""
    bird = aviary.hatch({**STEERING, "start": {"steering_error": {"message": "not now"}}})
    begun = await bird.prompt(HELD)
    ask = await bird.ask(begun)
    await bird.prompt("for later", steer=True)
    await bird.answer(ask, "allow")
    await bird.until(lambda event: is_text(event, "<for later>"))
    assert not any(each.update.get("steered") for each in bird.events())


async def test_a_steered_prompt_that_the_agent_dies_of_is_kept(aviary: Aviary) -> None:
    bird = aviary.hatch({**STEERING, "start": {"silence": "_session/steering"}})
    begun = await bird.prompt(HELD)
    await bird.ask(begun)
    await bird.prompt("keep me", steer=True)
    tree.kill([bird.agent])
    await bird.ended(begun)
    assert [item["prompt"][0]["text"] for item in bird.header().queue] == ["keep me"]
    again = await bird.until(lambda event: event.update.get("again") is True, begun.seq)
    await bird.answer(again.update, "allow")  # what was asked comes first
    await bird.until(lambda event: is_text(event, "<keep me>"))


async def test_steering_an_idle_session_is_a_prompt(aviary: Aviary) -> None:
    bird = aviary.hatch(STEERING)
    assert text_of(await bird.turn("hello", steer=True)) == "<hello>"
