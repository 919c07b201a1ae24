"""`_rookery/judge` is no private door: any agent may have its actions judged before it runs
them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from tests.worker.aviary import Aviary, Bird, is_ask, text_of
from tests.worker.test_policy import NO_PUSH, STATUS, write_rules

type Json = dict[str, Any]

AGENT = [sys.executable, str(Path(__file__).with_name("judged.py"))]


def call(line: str, risk: str = "", name: str = "") -> Json:
    about = {"toolCallId": name or line, "title": f"run {line}", "kind": "execute"}
    about |= {"rawInput": {"command": line}}
    return {"toolCall": about} | ({"risk": risk} if risk else {})


def said(events: list[Event]) -> list[Any]:
    """Of one turn; the client offered it (`initialize`)."""
    offered, *answers = [json.loads(line) for line in text_of(events).splitlines()]
    assert offered["rookery"] == {"judge": True, "hooks": True}
    return answers


async def prompt(bird: Bird, *requests: Any) -> Event:
    return await bird.prompt(json.dumps(requests))


async def outcomes(bird: Bird, *calls: Json) -> list[str]:
    """Of a turn in which nobody is asked."""
    [answer] = said(await bird.turn(json.dumps([{"calls": calls}])))
    return [each["outcome"] for each in answer["judgements"]]


async def test_any_agent_is_judged_by_rules_guard_and_mode(aviary: Aviary) -> None:
    """At once; a rule is named in the answer, in the log and where the call is shown."""
    write_rules(aviary, STATUS, NO_PUSH)
    bird = aviary.hatch(argv=AGENT, agent="nobody")
    await bird.turn("[]")
    await bird.send("set", option="confirm", value="all")
    events = await bird.turn(
        json.dumps([{"calls": [call("git status -s"), call("git push"), call("make")]}])
    )
    [answer] = said(events)
    assert answer["judgements"] == [
        {"outcome": "allow", "by": "rule:status", "words": "allowed by rule status"},
        {
            "outcome": "deny",
            "by": "rule:no-push",
            "words": "denied by rule no-push",
            "reason": "ask me first",
        },
        {"outcome": "allow", "by": "confirm:all", "words": "allowed (approve all)"},
    ]
    noted = [event for event in events if kind_of(event.update) == "_judged"]
    assert [event.by for event in noted] == ["rule:status", "rule:no-push"]
    shown = [b["text"] for b in fold(None, events).blocks.values() if b["role"] == "ask"]
    assert shown == ["Allowed by rule status", "Denied by rule no-push: ask me first"]


@pytest.mark.parametrize(
    ("confirm", "line", "risk"),
    [
        ("every", "make", ""),
        ("every", "make", "LOW"),
        ("risky", "make", "HIGH"),
        ("risky", "make", "UNKNOWN"),
        ("risky", "make", "low but not really"),
        ("risky", "rm -rf x", "LOW"),
        ("all", "rm -rf x", "LOW"),
    ],
)
async def test_an_ask_reaches_the_user_and_no_mode_answers_it(
    aviary: Aviary, confirm: str, line: str, risk: str
) -> None:
    """What judgement leaves to a person is asked of one, though the mode would have allowed it by
    the text alone."""
    bird = aviary.hatch(argv=AGENT, agent="nobody", confirm=confirm)
    begun = await prompt(bird, {"calls": [call(line, risk)]})
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "y", confirm=True)
    await bird.ended(begun)
    answer, asked = said(bird.events())
    assert answer["judgements"][0]["outcome"] == "ask"
    assert asked == {"asked": "y"}


async def test_the_models_word_never_lowers_the_risk(aviary: Aviary) -> None:
    bird = aviary.hatch(argv=AGENT, agent="nobody", confirm="risky")
    assert await outcomes(bird, call("make", "LOW"), call("make", "MEDIUM", "2"), call("ls")) == [
        "allow",
        "allow",
        "allow",
    ]
    other = {"toolCall": {"toolCallId": "o", "title": "x", "kind": "other"}, "risk": "LOW"}
    begun = await prompt(bird, {"calls": [other]})
    await bird.answer(await bird.ask(begun), "n")
    await bird.ended(begun)


async def test_a_malformed_judgement_request_is_refused(aviary: Aviary) -> None:
    """So that nothing is taken for a yes; nothing is asked or noted either."""
    bird = aviary.hatch(argv=AGENT, agent="nobody", confirm="all")
    wrong: list[Any] = [
        {},
        {"calls": []},
        {"calls": [{}]},
        {"calls": ["x"]},
        {"calls": {"toolCall": {}}},
        {"calls": [call("ls"), {"risk": "LOW"}]},
        {"calls": [call("ls", name=str(n)) for n in range(101)]},
        [],
        "ls",
        None,
    ]
    events = await bird.turn(json.dumps(wrong))
    assert said(events) == [-32602] * len(wrong)
    assert not [event for event in events if is_ask(event) or kind_of(event.update) == "_judged"]


async def test_a_call_that_was_allowed_is_logged_though_its_agent_says_nothing_more(
    aviary: Aviary,
) -> None:
    """What comes with the question may wait for what follows it, but not for long."""
    bird = aviary.hatch(argv=AGENT, agent="nobody", confirm="all")
    begun = await prompt(bird, {"announced": True, "calls": [call("make")]})
    told = await bird.until(lambda event: kind_of(event.update) == "tool_call", begun.seq)
    assert told.update["toolCallId"] == "make"
    await bird.send("cancel")
    await bird.ended(begun)
