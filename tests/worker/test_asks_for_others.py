"""An ask whose call is not its own is judged by the calls that it stands for, and no rule is made
of its title. As OpenHands asks: one id for all, nothing but a title."""

from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.view.reduce import fold
from rookery.home.config import load
from tests.worker.aviary import Aviary, Bird, text_of
from tests.worker.test_policy import closings, write_rules

type Json = dict[str, Any]

OPTIONS = [
    {"optionId": "accept", "name": "Yes, proceed", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
    {"optionId": "always", "name": "Always proceed (don't ask again)", "kind": "allow_always"},
]
CONFIRM: Json = {
    "ask": "Confirm Agent Actions",
    "announce": False,
    "toolCall": {
        "toolCallId": "confirmation-1",
        "title": "Confirm Agent Actions",
        "kind": "other",
        "status": "pending",
    },
    "options": OPTIONS,
    "allowed": [{"text": "<allowed>"}],
    "rejected": [{"text": "<refused>"}],
}


def announced(name: str, line: str, status: str = "in_progress") -> Json:
    call = {"toolCallId": name, "title": "terminal", "kind": "execute", "status": status}
    return {"update": {"sessionUpdate": "tool_call", **call, "rawInput": {"command": line}}}


def ended(name: str) -> Json:
    call = {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed"}
    return {"update": call}


async def refuses(bird: Bird, **command: Any) -> str:
    with pytest.raises(Rejected) as refusal:
        await bird.send("answer", **command)
    return refusal.value.reason


async def test_the_guard_judges_the_announced_call(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([announced("A", "rm -rf build"), CONFIRM])
    ask = await bird.ask(begun)
    assert "rm -rf" in ask["danger"]
    [item] = ask["does"]
    assert (item["what"], item["text"], item["call"]) == ("command", "rm -rf build", "A")
    named = {"ask": ask["id"], "nonce": ask["nonce"]}
    assert await refuses(bird, **named, option="accept") == "confirm_needed"
    assert await refuses(bird, **named, option="always", confirm=True) == "always_disabled"
    assert await refuses(bird, **named, always=True) in ("confirm_needed", "always_disabled")
    assert await refuses(bird, **named, always=True, confirm=True) == "always_disabled"
    assert load(aviary.home).rules == ()
    await bird.answer(ask, "accept", confirm=True)
    await bird.ended(begun)
    assert text_of(bird.events()) == "<allowed>"


async def test_a_deny_rule_judges_the_announced_call(aviary: Aviary) -> None:
    write_rules(aviary, 'name = "no-rm"\ndo = "deny"\ncommand = "rm *"')
    bird = aviary.hatch()
    await bird.turn([announced("A", "ls"), announced("B", "rm -rf build"), CONFIRM])
    assert [closed.by for closed in closings(bird)] == ["rule:no-rm"]
    assert text_of(bird.events()) == "<refused>"


async def test_no_mode_approves_a_destructive_call(aviary: Aviary) -> None:
    bird = aviary.hatch(confirm="all")
    begun = await bird.prompt([announced("A", "ls"), announced("B", "rm -rf build"), CONFIRM])
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    assert ask["danger"]
    await bird.answer(ask, "reject")
    await bird.ended(begun)


async def test_an_ask_for_several_calls_needs_each_to_be_allowed(aviary: Aviary) -> None:
    write_rules(
        aviary,
        'name = "status"\ndo = "allow"\ncommand = "git status*"',
        'name = "list"\ndo = "allow"\ncommand = "ls*"',
    )
    bird = aviary.hatch()
    await bird.turn([announced("A", "git status"), announced("B", "ls -l"), CONFIRM])
    assert [closed.by for closed in closings(bird)] == ["rule:status, rule:list"]
    begun = await bird.prompt([announced("A", "git status"), announced("B", "make"), CONFIRM])
    ask = await bird.ask(begun)
    assert [item["text"] for item in ask["does"]] == ["git status", "make"]
    assert "always" not in ask
    named = {"ask": ask["id"], "nonce": ask["nonce"]}
    assert await refuses(bird, **named, always=True) == "no_rule"
    await bird.answer(ask, "accept")
    await bird.ended(begun)


async def test_ended_and_allowed_calls_are_not_asked_again(aviary: Aviary) -> None:
    """One id for all asks of a session."""
    bird = aviary.hatch()
    begun = await bird.prompt(
        [announced("A", "one"), CONFIRM, ended("A"), announced("B", "two"), CONFIRM]
    )
    for line in ("one", "two"):
        ask = await bird.ask(begun)
        assert [item["text"] for item in ask["does"]] == [line]
        begun = await bird.answer(ask, "accept")


async def test_a_refused_call_is_asked_again(aviary: Aviary) -> None:
    """It does not hide behind what was announced since."""
    bird = aviary.hatch(confirm="all")
    begun = await bird.prompt(
        [announced("A", "rm -rf build"), CONFIRM, announced("B", "ls"), CONFIRM]
    )
    ask = await bird.ask(begun)
    again = await bird.ask(await bird.answer(ask, "reject"))
    assert [item["text"] for item in again["does"]] == ["rm -rf build", "ls"]
    assert again["danger"]
    await bird.answer(again, "reject")
    await bird.ended(begun)


async def test_an_ask_by_its_id_alone_shows_what_was_announced(aviary: Aviary) -> None:
    """The command and the change, although the ask says only words."""
    change = {"type": "diff", "path": "/w/a", "oldText": "a", "newText": "b"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "A", "kind": "edit", "title": "Edit a"}
    words = [{"type": "content", "content": {"type": "text", "text": "May I?"}}]
    ask = {"toolCallId": "A", "title": "Edit a", "content": words}
    steps = [
        {"update": {**call, "status": "pending", "content": [change]}},
        {**CONFIRM, "toolCall": ask},
    ]
    bird = aviary.hatch()
    begun = await bird.prompt(steps)
    asked = await bird.ask(begun)
    assert [item["what"] for item in asked["does"]] == ["path", "diff"]
    assert (asked["does"][1]["old"], asked["does"][1]["new"]) == ("a", "b")
    await bird.answer(asked, "reject")
    await bird.ended(begun)


async def test_a_rule_is_made_from_the_command_not_the_title(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([announced("A", "make"), CONFIRM])
    ask = await bird.ask(begun)
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=True)
    await bird.ended(begun)
    [rule] = load(aviary.home).rules
    assert (rule.kind, rule.exact, rule.tool) == (("execute",), ("make",), ())
    await bird.turn([announced("A", "make"), CONFIRM])
    assert closings(bird)[-1].by == f"rule:{rule.name}"


async def test_a_title_allows_nothing(aviary: Aviary) -> None:
    """It denies, where a rule says so."""
    write_rules(aviary, 'do = "allow"\ntool = "Confirm Agent Actions"')
    bird = aviary.hatch()
    begun = await bird.prompt([CONFIRM])
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    [block] = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    assert [action["kind"] for action in block["actions"]] == [o["kind"] for o in OPTIONS]
    named = {"ask": ask["id"], "nonce": ask["nonce"]}
    assert await refuses(bird, **named, always=True) == "no_rule"
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    write_rules(aviary, 'name = "no"\ndo = "deny"\ntool = "Confirm*"')
    await bird.turn([CONFIRM])
    assert closings(bird)[-1].by == "rule:no"


@pytest.mark.parametrize(
    "given",
    [
        {"args": ["rm", "-rf", "build"]},
        {"argv": ["rm", "-rf", "build"]},
        {"params": {"commandLine": "rm -rf build"}},
        {"payload": "rm -rf build"},
        {"command": "ls", "arguments": ["rm", "-rf", "build"]},
        ["rm", "-rf", "build"],
    ],
)
async def test_a_command_under_any_tool_name_is_judged(aviary: Aviary, given: Any) -> None:
    bird = aviary.hatch(confirm="all")
    step = {"ask": "Look around", "kind": "execute", "rawInput": given}
    begun = await bird.prompt([step])
    ask = await bird.ask(begun)
    assert "rm -rf" in ask["danger"]
    assert any("rm -rf build" in item["text"] for item in ask["does"])
    await bird.answer(ask, "reject")
    await bird.ended(begun)
