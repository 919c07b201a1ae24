"""Asks in a real worker: who may answer, what wants a second yes, what a form takes."""

import asyncio
import json
import sys
from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.blocks import captions
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.home.config import load
from tests.worker.aviary import Aviary, Bird, Steps, is_text, text_of

type Json = dict[str, Any]

RM: Steps = [
    {
        "ask": "rm -rf build",
        "kind": "execute",
        "rawInput": {"command": "rm -rf build"},
        "allowed": [{"text": "deleted"}],
        "rejected": [{"text": "kept"}],
    }
]
CALM: Steps = [{"ask": "Go on?", "allowed": [{"text": "went"}], "rejected": [{"text": "stayed"}]}]


async def held(bird: Bird, play: Steps) -> tuple[Event, Json]:
    begun = await bird.prompt(play)
    return begun, await bird.ask(begun)


async def refused(bird: Bird, ask: Json, **fields: Any) -> str:
    with pytest.raises(Rejected) as told:
        await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], **fields)
    return told.value.reason


def outcomes(bird: Bird) -> list[Event]:
    return [
        event
        for event in bird.events()
        if kind_of(event.update) == "_ask" and event.update["state"] == "closed"
    ]


async def test_two_clients_race_and_one_answer_counts(aviary: Aviary) -> None:
    """The other is told quietly how it ended; the log says who it was."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    answers = await asyncio.gather(
        *(bird.answer(ask, option) for option in ("allow", "reject") for _ in range(4))
    )
    await bird.ended(begun)
    [outcome] = outcomes(bird)
    assert sorted(kind_of(each.update) for each in answers) == ["_ask"] + ["_done"] * 7
    assert outcome.by.startswith("test:")
    word = "went" if outcome.update["outcome"]["optionId"] == "allow" else "stayed"
    assert word in text_of(bird.events())


async def test_what_cannot_be_undone_is_confirmed_and_never_for_good(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, RM)
    assert "rm -rf" in ask["danger"]
    assert await refused(bird, ask, option="allow") == "confirm_needed"
    assert await refused(bird, ask, option="allow-always", confirm=True) == "always_disabled"
    [block] = [each for each in fold(None, bird.events()).blocks.values() if each["role"] == "ask"]
    assert block["danger"] == ask["danger"]
    once, always, no = block["actions"]
    assert once["danger"] is True
    assert "disabled" in always
    assert not {"danger", "disabled"} & no.keys()
    await bird.send(**once["command"])  # what a button sends that was held down
    await bird.ended(begun)
    assert "deleted" in text_of(bird.events())


async def test_to_reject_what_cannot_be_undone_takes_no_second_word(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, RM)
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    assert "kept" in text_of(bird.events())


async def test_danger_is_known_from_the_call_that_the_ask_only_names(aviary: Aviary) -> None:
    """The words came with the call, the ask has its id alone."""
    bird = aviary.hatch()
    call = {"toolCallId": "t1", "title": "Clean up", "kind": "execute"}
    announced = {
        "update": {"sessionUpdate": "tool_call", **call, "rawInput": {"command": "rm -rf ."}}
    }
    _, ask = await held(
        bird, [announced, {"ask": {"toolCall": {"toolCallId": "t1"}}, "announce": False}]
    )
    assert "rm -rf" in ask["danger"]


async def test_confirmation_can_be_turned_off(aviary: Aviary) -> None:
    aviary.configure(confirm_destructive=False)
    bird = aviary.hatch()
    begun, ask = await held(bird, RM)
    assert "danger" not in ask
    await bird.answer(ask, "allow-always")
    await bird.ended(begun)
    assert "deleted" in text_of(bird.events())


async def test_writes_outside_the_directories_are_dangerous(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for path, danger in (("/etc/hosts", True), ("../" * 20 + "srv/x", True), ("inside", False)):
        begun, ask = await held(bird, [{"diff": path, "new": "x", "ask": True}])
        assert ("danger" in ask) is danger, path
        await bird.answer(ask, "reject")
        await bird.ended(begun)


FORM: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1},
        "sure": {"type": "boolean"},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"name": "A"},
        {"name": "ABC"},
        {"name": "bird", "count": 0},
        {"name": "bird", "count": 1.5},
        {"name": "bird", "colour": "green"},
        {"name": "bird", "tags": ["x", "y"]},
        {"name": "bird", "sure": "yes"},
        {"name": "bird", "more": 1},
    ],
    ids=json.dumps,
)
async def test_a_form_is_checked_before_it_leaves(aviary: Aviary, content: Json) -> None:
    """The ask stays open, and a right answer still counts."""
    bird = aviary.hatch()
    question = {"question": "Which?", "schema": FORM, "accepted": [{"text": "took $answer"}]}
    begun, ask = await held(bird, [question])
    assert (ask["kind"], ask["message"]) == ("question", "Which?")
    assert await refused(bird, ask, action="accept", content=content) == "invalid_form"
    right = {"name": "bird", "count": 3, "colour": "red", "tags": ["x"], "sure": True}
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], action="accept", content=right)
    await bird.ended(begun)
    assert f"took {json.dumps(right, separators=(',', ':'))}" in text_of(bird.events())


@pytest.mark.parametrize(("action", "word"), [("decline", "declined"), ("cancel", "cancelled")])
async def test_a_question_may_be_declined(aviary: Aviary, action: str, word: str) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, [{"question": "Which?", "schema": FORM, word: [{"text": word}]}])
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], action=action)
    await bird.ended(begun)
    assert word in text_of(bird.events())


async def test_a_reason_reaches_the_agent_as_the_next_prompt(aviary: Aviary) -> None:
    """Where the agent cannot take it with the answer."""
    bird = aviary.hatch()
    begun, ask = await held(bird, CALM)
    await bird.answer(ask, "reject", reason="Use the other one")
    end = await bird.ended(begun)
    await bird.until(lambda event: is_text(event, "Use the other one"), end.seq)
    assert text_of(bird.events()) == "stayedYou said: Use the other one"


async def test_a_reason_goes_with_the_answer_where_the_agent_takes_it(aviary: Aviary) -> None:
    bird = aviary.hatch({"agent": {"name": "rookery-agent"}})
    begun, ask = await held(bird, [{**CALM[0], "rejected": [{"text": "because: $reason"}]}])
    await bird.answer(ask, "reject", reason="Use the other one")
    await bird.ended(begun)
    assert text_of(bird.events()) == "because: Use the other one"
    assert bird.header().queue == []


AGENT_ANSWERS = """
import asyncio, sys
from rookery.client.session import Rejected, SessionClient
home, session, out = sys.argv[1:4]

async def main():
    client = SessionClient(home, session, "sly")
    async for event in client.follow(0):
        if event.update.get("sessionUpdate") == "_ask":
            break
    ask = event.update
    command = {"do": "answer", "ask": ask["id"], "nonce": ask["nonce"], "option": "allow"}
    try:
        await client.send(command)
        told = "taken"
    except Rejected as refusal:
        told = refusal.reason
    with open(out, "w") as file:
        file.write(told)
asyncio.run(main())
"""


@pytest.mark.parametrize("detach", [False, True])
async def test_the_agents_own_processes_cannot_answer(aviary: Aviary, detach: bool) -> None:
    """Also one that left the agent's session."""
    bird = aviary.hatch()
    out = aviary.root / "told"
    argv = [sys.executable, "-c", AGENT_ANSWERS, bird.home, bird.id, str(out)]
    begun, ask = await held(bird, [{"spawn": argv, "detach": detach}, *CALM])
    rejection = await bird.until(lambda event: kind_of(event.update) == "_rejected", begun.seq)
    assert rejection.update["reason"] == "from_the_agent"
    assert rejection.by.startswith("sly:")
    assert bird.header().asks.keys() == {ask["id"]}
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    assert "stayed" in text_of(bird.events())


async def test_an_edit_says_at_which_line_of_the_file_it_is(aviary: Aviary) -> None:
    bird = aviary.hatch()
    place = aviary.work / "app.py"
    place.write_text("".join(f"x{number} = {number}\n" for number in range(50)))
    change = {"diff": "app.py", "old": "x30 = 30", "new": "x30 = 'thirty'", "really": True}
    begun, ask = await held(bird, [{**change, "ask": True}])
    assert ask["toolCall"]["_meta"]["rookery"]["lines"] == [31]
    await bird.answer(ask, "allow")
    await bird.ended(begun)
    (card,) = [
        block for block in fold(None, bird.events()).blocks.values() if block["role"] == "tool"
    ]
    (part,) = [each for each in captions.parts_of(card) if each["type"] == "diff"]
    assert part["line"] == 31


PUSH: Json = {"kind": "execute", "rejected": [{"text": "why: $reason."}]}


def pushes(*lines: str) -> Steps:
    """Asked at the same time."""
    steps = [
        {"ask": line, **PUSH, "rawInput": {"command": line}, "allowed": [{"text": f"ran {line}"}]}
        for line in lines
    ]
    return [{"together": steps}]


async def open_asks(bird: Bird, begun: Event, number: int) -> list[Json]:
    seen: list[Json] = []

    def all_came(event: Event) -> bool:
        if kind_of(event.update) == "_ask" and event.update["state"] == "asked":
            seen.append(event.update)
        return len(seen) == number

    await bird.until(all_came, begun.seq)
    return seen


async def test_why_it_was_rejected_is_in_the_record_and_reaches_the_agent_once(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, pushes("git push"))
    await bird.answer(ask, "reject", reason="Use staging")
    end = await bird.ended(begun)
    await bird.until(lambda event: is_text(event, "Use staging"), end.seq)
    assert text_of(bird.events()) == "why: .You said: Use staging"
    [block] = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    assert (captions.outcome(block), block["reason"]) == ("Rejected · test", "Use staging")


async def test_a_word_with_a_yes_reaches_the_agent_once_and_is_in_the_record(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    begun, ask = await held(bird, pushes("git push"))
    await bird.answer(ask, "allow", reason="Then tag it")
    end = await bird.ended(begun)
    await bird.until(lambda event: is_text(event, "Then tag it"), end.seq)
    assert text_of(bird.events()) == "ran git pushYou said: Then tag it"
    [block] = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    assert (captions.outcome(block), block["reason"]) == ("Allowed · test", "Then tag it")


async def test_each_of_several_asks_can_become_a_rule_of_this_project(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(pushes("git push a", "git push b", "make"))
    first, second, third = await open_asks(bird, begun, 3)
    assert first["alike"] == second["alike"] != third["alike"]
    assert first["explains"] == ["Sends data to a (git push)"]
    assert [ask["step"] for ask in bird.header().asks.values()] == [[1, 3], [2, 3], [3, 3]]
    await bird.send("answer", ask=first["id"], nonce=first["nonce"], always=True)
    [rule] = load(aviary.home).rules
    assert (rule.exact, rule.project) == (("git push a",), (str(aviary.work),))
    for ask in (second, third):
        await bird.answer(ask, "allow")
    await bird.ended(begun)
    await bird.turn(pushes("git push a"))
    closing = [e for e in bird.events() if e.update.get("state") == "closed"][-1]
    assert closing.by == f"rule:{rule.name}"


async def test_a_rule_answers_the_other_open_asks_that_it_covers_and_no_others(
    aviary: Aviary,
) -> None:
    bird, neighbour = aviary.hatch(), aviary.hatch()
    begun = await bird.prompt(pushes("git push a", "git push a", "git push b"))
    first, second, third = await open_asks(bird, begun, 3)
    elsewhere = await neighbour.prompt(pushes("git push a", "git push b"))
    _, left = await open_asks(neighbour, elsewhere, 2)
    await bird.send("answer", ask=first["id"], nonce=first["nonce"], always=True)
    [rule] = load(aviary.home).rules
    closings = [e for e in bird.events() if e.update.get("state") == "closed"]
    assert [e.update["id"] for e in closings] == [first["id"], second["id"]]
    assert closings[1].by == f"rule:{rule.name}"
    notices = [e.update["text"] for e in bird.events() if kind_of(e.update) == "_notice"]
    assert any("It also allowed 1 open question." in text for text in notices)
    assert list(bird.header().asks) == [third["id"]]
    await neighbour.until(lambda event: event.update.get("state") == "closed", elsewhere.seq)
    assert list(neighbour.header().asks) == [left["id"]]
    await bird.answer(third, "allow")
    await neighbour.answer(left, "allow")
    await bird.ended(begun)
    await neighbour.ended(elsewhere)
