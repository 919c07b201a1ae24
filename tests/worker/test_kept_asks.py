"""In a real worker an ask outlives whoever asked it."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, Steps, is_agent, is_ask, is_idle, text_of

type Json = dict[str, Any]

CALM: Steps = [
    {
        "ask": "make test",
        "kind": "execute",
        "rawInput": {"command": "make test"},
        "allowed": [{"text": "went"}],
        "rejected": [{"text": "stayed"}],
    }
]
FORM: Json = {"type": "object", "properties": {"name": {"type": "string"}}}
QUESTION: Steps = [
    {"question": "Who?", "schema": FORM, "accepted": [{"text": "it is $answer"}]},
]
KILLS = ["agent", "worker", "both", "warden and worker", "stop", "reboot"]


async def held(bird: Bird, play: Steps) -> tuple[Event, Json]:
    begun = await bird.prompt(play)
    return begun, await bird.ask(begun)


async def end(aviary: Aviary, bird: Bird, how: str) -> None:
    """End what hosts the session, and wait until its log says so."""
    last = bird.events()[-1].seq
    hosts = {
        "agent": lambda: [bird.agent],
        "worker": lambda: [bird.worker],
        "both": lambda: [bird.worker, bird.agent],
        "warden and worker": lambda: [bird.warden, bird.worker],
    }
    if how == "stop":
        await bird.send("stop")
    elif how == "reboot":
        await reboot(aviary, bird)
    else:
        victims = hosts[how]()
        tree.kill(victims)
        await bird.gone(*victims)
    await bird.until(is_idle, last)


async def reboot(aviary: Aviary, bird: Bird) -> None:
    """Everything dies at once, no socket is left, and what worker.json says is of another boot."""
    record = bird.record
    everyone = aviary.processes()
    tree.kill(everyone)
    await bird.gone(*everyone)
    Path(bird.socket).unlink(missing_ok=True)
    path = bird.directory / "worker.json"
    text = path.read_text()
    for key in ("start", "wardenStart", "agentStart"):
        if isinstance(record.get(key), str):
            text = text.replace(record[key], record[key].partition("@")[0] + "@deadbeef")
    path.write_text(text)


def asked(bird: Bird) -> list[Json]:
    return [event.update for event in bird.events() if is_ask(event)]


def closed(bird: Bird) -> list[Event]:
    return [
        event
        for event in bird.events()
        if kind_of(event.update) == "_ask" and event.update["state"] == "closed"
    ]


def is_again(event: Event) -> bool:
    return is_ask(event) and event.update.get("again") is True


@pytest.mark.parametrize("how", KILLS)
async def test_an_open_ask_outlives_its_worker_and_is_asked_again(aviary: Aviary, how: str) -> None:
    """Open in the header and in every list, also asleep; the next worker asks the same again, with
    the same id, before the prompt that woke it; one answer, passed on once."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    await end(aviary, bird, how)
    assert bird.header().asks.keys() == {ask["id"]}
    assert bird.events(begun.seq)[-1].update.get("state") != "closed"
    head = fleet.head_of_session(bird.home, bird.id)
    assert head is not None
    assert head["asks"] == 1
    admitted = await bird.prompt("and then?")
    assert kind_of(admitted.update) == "_queue"
    again = await bird.until(is_again, begun.seq)
    assert (again.update["id"], again.update["nonce"]) == (ask["id"], ask["nonce"])
    await bird.answer(again.update, "allow")
    await bird.until(lambda event: "You said: and then?" in text_of([event]), again.seq)
    assert text_of(bird.events()) == "wentYou said: and then?"
    [outcome] = closed(bird)
    assert outcome.update["outcome"] == {"outcome": "selected", "optionId": "allow"}
    document = fold(None, bird.events())
    first, second = [block for block in document.blocks.values() if block["role"] == "ask"]
    assert (first["status"], first["actions"]) == ("moved", [])
    assert "Asked again below" in first["text"]
    assert second["status"] == "answered"


@pytest.mark.parametrize("how", KILLS)
async def test_an_answer_given_meanwhile_is_kept_and_passed_on_once(
    aviary: Aviary, how: str
) -> None:
    """It wakes the session; the log has it with the command's id before anybody is told."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    await end(aviary, bird, how)
    told = await bird.answer(ask, "allow")
    await bird.until(lambda event: "went" in text_of([event]), begun.seq)
    await bird.until(is_idle, told.seq)
    if told.update["state"] == "answered":  # else its agent was back before the answer came
        assert told.update["given"]["option"] == "allow"
    [outcome] = closed(bird)
    assert (outcome.update["outcome"]["optionId"], outcome.by) == ("allow", told.by)
    assert text_of(bird.events()) == "went"
    late = await bird.answer(ask, "reject")
    assert late.update["detail"] == "answered already"


@pytest.mark.parametrize("how", ["agent", "worker", "stop"])
async def test_questions_are_kept_too(aviary: Aviary, how: str) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, QUESTION)
    await end(aviary, bird, how)
    answer = {"ask": ask["id"], "nonce": ask["nonce"], "action": "accept"}
    await bird.send("answer", **answer, content={"name": "crow"})
    await bird.until(lambda event: "crow" in text_of([event]), begun.seq)
    assert len(closed(bird)) == 1


async def test_an_agent_that_dies_is_started_again_by_itself(aviary: Aviary) -> None:
    """Nobody sends anything, and the ask stands again; one that dies each time does not come back
    for ever, and what it asked is still kept."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    seq = begun.seq
    for _ in range(3):
        tree.kill([bird.agent])
        again = await bird.until(is_again, seq)
        assert again.update["id"] == ask["id"]
        seq = again.seq
    tree.kill([bird.agent])
    await bird.until(lambda event: is_agent(event, "parked"), seq)
    assert bird.header().asks.keys() == {ask["id"]}
    await bird.answer(ask, "allow")
    await bird.until(lambda event: "went" in text_of([event]), seq)
    assert len(closed(bird)) == 1


async def test_an_answer_to_an_agent_that_has_just_died_is_kept(aviary: Aviary) -> None:
    """Also before anybody has noticed that it is dead."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    tree.kill([bird.agent])
    told = await bird.answer(ask, "allow")
    assert told.update["state"] in ("answered", "closed"), "closed: its agent was back already"
    await bird.until(lambda event: "went" in text_of([event]), begun.seq)
    assert len(closed(bird)) == 1


RUN: Steps = [{"tool": {"toolCallId": "t", "title": "Dig"}, "status": "completed"}]
WRITE: Steps = [{"write": "dug", "content": "deep"}]
TERMINAL: Steps = [{"command": "true"}]


@pytest.mark.parametrize("before", [RUN, WRITE, TERMINAL], ids=["call", "write", "terminal"])
@pytest.mark.parametrize("how", ["agent", "worker", "stop"])
async def test_a_prompt_whose_steps_ran_is_not_resent_silently(
    aviary: Aviary, before: Steps, how: str
) -> None:
    """A person decides; until then prompts wait behind it."""
    bird = aviary.hatch()
    begun, ask = await held(bird, [*before, *CALM])
    await end(aviary, bird, how)
    await bird.prompt("and then?")
    decide = await bird.until(lambda event: event.update.get("decide") is True, begun.seq)
    assert decide.update["id"] == ask["id"]
    assert [option["name"] for option in decide.update["options"]] == [
        "Send the prompt again",
        "Drop it",
    ]
    assert sum(kind_of(event.update) == "_prompt" for event in bird.events()) == 1
    with pytest.raises(Rejected, match="Answer the open question first"):
        await bird.send("queue", op="send")
    block = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"][-1]
    assert "already run" in block["note"]
    again, _ = block["actions"]
    await bird.send(**again["command"])
    stands = await bird.until(is_again, decide.seq)
    await bird.answer(stands.update, "allow")
    await bird.until(lambda event: "You said: and then?" in text_of([event]), stands.seq)
    assert len(closed(bird)) == 1


@pytest.mark.parametrize("asleep", [True, False])
async def test_dropping_a_kept_ask_releases_the_queue(aviary: Aviary, asleep: bool) -> None:
    """A person's cancel of a kept ask closes it, also asleep; what waited is sent."""
    bird = aviary.hatch()
    _, ask = await held(bird, [*RUN, *CALM])
    await end(aviary, bird, "stop")
    if not asleep:
        await bird.prompt("and then?")
    told = await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], cancel=True)
    assert told.update["dropped"] is True
    assert bird.header().asks == {}
    if asleep:
        await bird.prompt("and then?")
    await bird.until(lambda event: "You said: and then?" in text_of([event]), told.seq)
    assert len(closed(bird)) == 1


async def test_a_kept_answer_is_not_given_to_another_call(
    aviary: Aviary,
) -> None:
    """The old ask is closed with words, the new one stands for the person."""
    first = {**CALM[0], "rawInput": {"command": "make test"}}
    other = {**CALM[0], "rawInput": {"command": "make install"}}
    bird = aviary.hatch({"turns": [[first], [other]]})
    begun = await bird.prompt("do it")
    ask = await bird.ask(begun)
    await end(aviary, bird, "worker")
    said = ""
    try:
        await bird.answer(ask, "allow")
    except Rejected as refused:  # the agent was quicker, and asks the other thing already
        said = str(refused)
    fresh = await bird.until(lambda event: is_ask(event) and event.update["id"] != ask["id"])
    assert bird.header().asks.keys() == {fresh.update["id"]}
    [outcome] = closed(bird)
    assert outcome.update["superseded"] is True
    said = said or outcome.update["reason"]
    assert re.search("“Allow” was not sent to the agent|your answer was not sent to it", said)
    assert text_of(bird.events()) == ""
    await bird.answer(fresh.update, "reject")
    await bird.until(lambda event: "stayed" in text_of([event]), fresh.seq)


async def test_an_answer_that_no_longer_fits_is_not_passed_on(aviary: Aviary) -> None:
    """The same call, but its options are others by now."""
    yes = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    oui = [{"optionId": "oui", "name": "Oui", "kind": "allow_once"}]
    ask = {**CALM[0]}
    bird = aviary.hatch({"turns": [[{**ask, "options": yes}], [{**ask, "options": oui}]]})
    begun = await bird.prompt("do it")
    first = await bird.ask(begun)
    await end(aviary, bird, "stop")
    said, seen = "", begun.seq
    try:
        told = await bird.answer(first, "yes")
        notice = await bird.until(lambda event: kind_of(event.update) == "_notice", told.seq)
        said, seen = notice.update["text"], notice.seq
    except Rejected as refused:  # the agent was quicker, and asks again already
        said = str(refused)
    assert re.search("'Yes' was not sent to the agent|The agent offers: oui", said)
    assert closed(bird) == []
    again = bird.header().asks[first["id"]]
    assert "given" not in again
    await bird.answer(first, "oui")
    await bird.until(lambda event: "went" in text_of([event]), seen)


async def test_deferring_ends_the_turn_and_an_answer_continues_it(aviary: Aviary) -> None:
    """The turn ends as waiting, the agent ends, the session stops by itself when idle, the ask
    stays in the inbox, and answering it wakes the session."""
    aviary.configure(idle_stop_secs=0.2)
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    agent = bird.agent
    told = await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], defer=True)
    assert told.update["detail"] == "deferred"
    ended = await bird.ended(begun)
    assert ended.update["reason"] == "waiting"
    await bird.gone(agent)
    worker = bird.worker
    asleep = await bird.until(lambda event: is_agent(event, "stopped"), ended.seq)
    assert asleep.update["reason"] == "idle"
    await bird.gone(worker)
    assert bird.header().asks.keys() == {ask["id"]}
    head = fleet.head_of_session(bird.home, bird.id)
    assert head is not None
    assert (head["asks"], head["awake"]) == (1, False)
    kept = await bird.answer(ask, "allow")
    # The worker that it wakes may have asked again before the answer came to it.
    assert kept.update["state"] in ("answered", "closed")
    await bird.until(lambda event: "went" in text_of([event]), kept.seq)
    assert text_of(bird.events()) == "went"


async def test_a_deferred_ask_comes_before_the_next_prompt(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], defer=True)
    await bird.ended(begun)
    assert kind_of((await bird.prompt("and then?")).update) == "_queue"
    again = await bird.until(is_again, begun.seq)
    await bird.answer(again.update, "reject")
    await bird.until(lambda event: "You said: and then?" in text_of([event]), again.seq)
    assert text_of(bird.events()) == "stayedYou said: and then?"


@pytest.mark.parametrize("how", ["cancel", "clear", "switch"])
async def test_cancel_clear_and_switch_close_kept_asks(aviary: Aviary, how: str) -> None:
    """Also while the session sleeps."""
    bird = aviary.hatch()
    _, _ask = await held(bird, CALM)
    await end(aviary, bird, "stop")
    fields: Json = {"agent": "demo"} if how == "switch" else {}
    await bird.send(how, **fields)
    assert bird.header().asks == {}
    [outcome] = closed(bird)
    assert outcome.update["outcome"] == {"outcome": "cancelled"}
    if how != "switch":
        assert await bird.reason("hello") == "end_turn"


async def test_a_cancel_of_the_turn_that_asks_again_closes_the_ask(aviary: Aviary) -> None:
    """A person's cancel is one, whenever it comes."""
    bird = aviary.hatch()
    begun, _ask = await held(bird, CALM)
    await end(aviary, bird, "worker")
    await bird.send("start")
    again = await bird.until(is_again, begun.seq)
    await bird.send("cancel")
    await bird.until(is_idle, again.seq)
    assert bird.header().asks == {}
    assert bird.header().reason == "cancelled"
    assert "went" not in text_of(bird.events())


async def test_a_kept_answer_survives_a_worker_that_cannot_start(aviary: Aviary) -> None:
    """No place for a worker; the answer is in the log, and the next one passes it on."""
    aviary.configure(max_workers=1)
    bird = aviary.hatch()
    _, ask = await held(bird, CALM)
    await end(aviary, bird, "stop")
    other = aviary.hatch()
    await held(other, CALM)
    told = await bird.answer(ask, "allow")
    assert told.update["state"] == "answered"
    head = fleet.head_of_session(bird.home, bird.id)
    assert head is not None
    assert (head["asks"], head["awake"]) == (0, False)
    worker = other.worker
    await other.send("stop")
    await other.gone(worker)
    await bird.send("start")
    await bird.until(lambda event: "went" in text_of([event]), told.seq)
    assert len(closed(bird)) == 1


async def test_the_same_command_sent_twice_keeps_one_answer(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    await end(aviary, bird, "stop")
    fields = {"ask": ask["id"], "nonce": ask["nonce"], "option": "allow", "id": "the-answer"}
    told = await asyncio.gather(*(bird.send("answer", **fields) for _ in range(3)))
    assert len({event.seq for event in told}) == 1
    await bird.until(lambda event: "went" in text_of([event]), begun.seq)
    assert len(closed(bird)) == 1
