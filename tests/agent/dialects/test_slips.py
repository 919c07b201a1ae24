"""What models and providers get wrong, in four dialects, against a server that is as strict as the
real ones: the turn goes on where it can, and whatever came, the next prompt is accepted."""

from typing import Any, NamedTuple

import pytest

from rookery.agent.scripted.anthropic import REDACTED
from tests.acp.driving import Json
from tests.agent.dialects.speaking import DIALECTS, Talk
from tests.agent.driving import run, shown
from tests.core.making import play

pytestmark = pytest.mark.asyncio(loop_scope="session")


def call(arguments: object, name: str = "terminal", **more: str) -> Json:
    return {"name": name, "arguments": arguments, **more}


def echo(word: str, **more: str) -> Json:
    return call(run(f"echo {word}")["call"]["arguments"], **more)


class Case(NamedTuple):
    turns: list[Any]
    words: str = ""
    """Said in the end."""
    ran: tuple[str, ...] = ()
    """Printed by commands."""
    told: str = ""
    """Stands in what the model is told next."""
    error: str = ""
    dialects: tuple[str, ...] = DIALECTS


DONE = "That is all"
THREE = [echo("one11"), echo("two22"), echo("three33")]
CASES: dict[str, Case] = {
    "three calls at once": Case(
        [{"text": "Now", "calls": THREE}, DONE], DONE, ("one11", "three33")
    ),
    "words between calls": Case(
        [{"text": "Now", "calls": [{**each, "text": "And"} for each in THREE]}, DONE],
        DONE,
        ("one11", "two22", "three33"),
    ),
    "bad JSON": Case([{"call": call('{"command": "echo hi, "risk": LOW')}, DONE], DONE),
    "a call that is cut": Case([{"call": call('{"command": "echo tru'), "finish": "length"}]),
    "a list": Case([{"call": call('["echo hi"]')}, DONE], DONE),
    "null": Case([{"call": call("null")}, DONE], DONE),
    "no arguments": Case([{"call": call("")}, DONE], DONE),
    "an unknown tool": Case([{"call": call({}, "no_such")}, DONE], DONE, told="no_such"),
    "a decorated name": Case(
        [{"call": echo("deco5", name="functions.terminal")}, DONE], DONE, ("deco5",)
    ),
    "a decorated name, otherwise": Case(
        [{"call": echo("deco6", name="default_api:terminal")}, DONE], DONE, ("deco6",)
    ),
    "an illegal name": Case([{"call": call({}, "no such tool!")}, DONE], DONE, told="no_such_tool"),
    "an empty name": Case([{"call": call({}, "")}, DONE], DONE),
    "a long name": Case([{"call": call({}, "x" * 200)}, DONE], DONE),
    "one id in two steps": Case(
        [{"call": echo("first7", id="call_1")}, {"call": echo("second8", id="call_1")}, DONE],
        DONE,
        ("first7", "second8"),
    ),
    "one id in one step": Case(
        [{"calls": [echo("left7", id="call_2"), echo("right8", id="call_2")]}, DONE],
        DONE,
        ("left7", "right8"),
    ),
    "an illegal id": Case([{"call": echo("odd9", id="a:/ü b")}, DONE], DONE, ("odd9",)),
    "nothing, then words": Case([{"text": ""}, DONE], DONE),
    "nothing, three times": Case([{"text": "", "times": 3}, DONE], error="empty"),
    "only thoughts, then words": Case([{"thought": "Hm"}, DONE], DONE),
    "only thoughts, three times": Case([{"thought": "Hm", "times": 3}, DONE], error="empty"),
    "only blanks, then words": Case([{"text": " \n "}, DONE], DONE),
    "blanks before a call": Case(
        [{"text": "\n\n", "call": echo("blank3")}, DONE], DONE, ("blank3",)
    ),
    "a thought before each call": Case(
        [{"calls": [{**each, "thought": f"Thought {n}"} for n, each in enumerate(THREE)]}, DONE],
        DONE,
        ("one11", "two22", "three33"),
    ),
    "a hidden thought": Case(
        [{"thought": REDACTED, "text": "So", "call": echo("hid4")}, DONE], DONE, ("hid4",)
    ),
    "cut after a half": Case([{"text": "half of it", "drop": 2}, DONE], DONE),
    "cut within a call": Case([{"call": echo("never"), "drop": 2}, DONE], DONE),
    "an error in mid-stream": Case([{"text": "half of it", "error": 500, "after": 2}, DONE], DONE),
    "no end mark": Case([{"text": "half of it", "unmarked": True}, DONE], DONE),
    "no end mark, within a call": Case([{"call": echo("never"), "unmarked": True}, DONE], DONE),
    "a bad byte": Case([{"text": "a \ufffd b", "garbled": True}], "a \ufffd"),
    "no usage": Case([{"text": DONE, "counts": "missing"}], DONE),
    "negative usage": Case([{"text": DONE, "counts": -5}], DONE),
    "usage in words": Case([{"text": DONE, "counts": "many"}], DONE),
    "a huge usage": Case([{"text": DONE, "counts": 1e30}], DONE),
    "wrong types, then right ones": Case(
        [{"call": call({"command": 5})}, {"call": echo("right6")}, DONE], DONE, ("right6",)
    ),
    "an unknown end": Case([{"text": DONE, "finish": "unheard_of"}], DONE),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_slip_poisons_no_conversation(fresh: Talk, name: str) -> None:
    case = CASES[name]
    seen = await fresh.turn(*case.turns)
    assert (case.error in seen.error) if case.error else not seen.error, seen.error
    if case.words:
        assert case.words in seen.words, seen.words
    results = " ".join(shown(each) for each in seen.calls)
    assert all(word in results for word in case.ran), results
    assert case.told in str(seen.asked[-1].body)
    kept = " ".join(
        block["text"]
        for block in play(*seen.updates).blocks.values()
        if block.get("role") == "answer"
    )
    assert "half" not in kept
    after = await fresh.turn({"text": "Heard", "call": echo("on4")}, "And on")
    assert (after.error, after.words) == ("", "HeardAnd on")
    assert [asked.turn.failure for asked in after.asked] == [None] * len(after.asked)
