"""What models and providers get wrong, in four dialects, against a server that is as strict as the
real ones: the turn goes on where it can, and whatever came, the next prompt is accepted."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rookery.agent.scripted.anthropic import REDACTED
from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.dialects.speaking import DIALECTS, Talk, models, saved
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
    untold: str = ""
    error: str = ""
    stop: str = ""
    unrun: tuple[str, ...] = ()
    """Not printed by any command."""
    dialects: tuple[str, ...] = DIALECTS


DONE = "That is all"
THREE = [echo("one11"), echo("two22"), echo("three33")]
LIMITED: Json = {"error": {"status": 429, "message": "Slow down", "retry_after": 0.1}}
BYTES = r"head -c 3000 /dev/urandom; printf '\033[2J\033]0;title\007\0\377behind them'"
RATE = "limits the rate"
LONGEST = 500_000
"""Characters of a request."""
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
    "an unknown tool": Case(
        [{"call": call({}, "no_such")}, DONE],
        DONE,
        told="not found. Available: ",
        untold="'finish",  # which it is not offered
    ),
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
    "a limit behind a whole call": Case(
        [{"call": echo("long3"), "finish": "length"}, DONE], DONE, ("long3",)
    ),
    "cut between two calls": Case(
        [{"calls": THREE, "drop": 4}, DONE], DONE, unrun=("one11", "two22")
    ),
    "bad JSON that is cut": Case(
        [{"call": call('{"command": "echo hi, "risk": LOW'), "drop": 2}, DONE], DONE
    ),
    "cut, then limited": Case([{"text": "half of it", "drop": 2}, LIMITED, DONE], DONE),
    "a limit without a time": Case([{"error": {"status": 429, "message": "Slow"}}, DONE], DONE),
    "overloaded": Case([{"error": {"status": 529, "message": "Overloaded"}}, DONE], DONE),
    "a stream that is none": Case(
        [
            {"text": "Now", "call": echo("whole8"), "unstreamed": True},
            {"text": DONE, "unstreamed": True},
        ],
        DONE,
        ("whole8",),
    ),
    "failed, as the reason": Case(
        [{"text": "half of it", "finish": "error"}, DONE], DONE, dialects=("chat",)
    ),
    "a pause": Case(
        [{"text": "I look", "finish": "pause_turn"}, DONE],
        f"I look{DONE}",
        dialects=("anthropic",),
    ),
    **{
        f"{reason} {where}": Case(
            [{**words, "finish": reason}], said, stop="refusal", dialects=("gemini",)
        )
        for reason in ("SAFETY", "RECITATION", "OTHER")
        for where, words, said in (
            ("at once", {}, "content filter"),
            ("in mid-answer", {"text": "So"}, "So"),
        )
    },
    "a call that Gemini could not write": Case(
        [{"finish": "MALFORMED_FUNCTION_CALL"}], error="empty", dialects=("gemini",)
    ),
    "400,000 lines": Case([run("seq 1 400000"), DONE], DONE, ("399999",)),
    "bytes and escapes": Case([run(BYTES), DONE], DONE, ("behind them",)),
}


PAIRS = [(dialect, name) for name, case in CASES.items() for dialect in case.dialects]


@pytest.mark.parametrize(("fresh", "name"), PAIRS, indirect=["fresh"])
async def test_a_slip_poisons_no_conversation(fresh: Talk, name: str) -> None:
    case = CASES[name]
    seen = await fresh.turn(*case.turns)
    assert (case.error in seen.error) if case.error else not seen.error, seen.error
    if case.words:
        assert case.words in seen.words, seen.words
    results = " ".join(shown(each) for each in seen.calls)
    assert all(word in results for word in case.ran), results
    assert not any(word in results for word in case.unrun), results
    assert case.stop in ("", seen.stop)
    assert case.told in str(seen.asked[-1].body)
    assert not case.untold or case.untold not in str(seen.asked[-1].body)
    assert len(str(seen.asked[-1].body)) + len(str(seen.updates)) < LONGEST
    kept = " ".join(
        block["text"]
        for block in play(*seen.updates).blocks.values()
        if block.get("role") == "answer"
    )
    assert "half" not in kept
    after = await fresh.turn({"text": "Heard", "call": echo("on4")}, "And on")
    assert (after.error, after.words) == ("", "HeardAnd on")
    assert [asked.turn.failure for asked in after.asked] == [None] * len(after.asked)


async def test_the_first_retry_after_a_cut_comes_at_once(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """However long the model's settings want to wait after other failures."""
    slow = {"retry_min_wait": 8, "retry_max_wait": 64, "retry_multiplier": 8.0}
    patient = {f"patient {name}": each | slow for name, each in models(provider).items()}
    with saved(agent_home, provider, **patient):
        for dialect in DIALECTS:
            talk = await Talk.begin(agent, provider, f"patient {dialect}", tmp_path)
            for cut in ({"drop": 2}, {"unmarked": True}):
                seen = await talk.turn({"text": "half of it", **cut}, DONE)
                assert (seen.error, DONE in seen.words) == ("", True)
                told = [update for update in seen.updates if "retry" in str(update.get("_meta"))]
                waits = [each["_meta"]["rookery"]["retry"]["in"] for each in told]
                assert max(waits, default=0) < 1, (dialect, cut)  # none: the client's library did


async def test_cancelled_while_a_retry_waits(fresh: Talk) -> None:
    limit = {"error": {"status": 429, "message": "Slow down", "retry_after": 2}, "times": 9}
    agent, before = fresh.agent, len(fresh.model.asked)
    turn = agent.prompt(fresh.session, [{"text": "half of it", "drop": 2}, limit])
    await agent.until(lambda line: RATE in str(line))
    agent.notify("session/cancel", sessionId=fresh.session)
    assert (await agent.answer(turn))["result"]["stopReason"] == "cancelled"
    asked = len(fresh.model.asked)
    assert asked == before + 2
    agent.news(fresh.session)
    after = await fresh.turn({"text": "Heard", "call": echo("on4")}, "And on")
    assert (after.error, after.words) == ("", "HeardAnd on")
    assert len(fresh.model.asked) == asked + 2, "the cancelled request was not made again"


async def test_killed_while_a_retry_waits(
    agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """Another process goes on from the prompt: nothing of the half answer is left."""
    limit = {"error": {"status": 429, "message": "Slow down", "retry_after": 2}, "times": 9}
    half = {"text": "half of it", "call": echo("never"), "drop": 4}
    first, again = [
        await Agent.start(ARGV, environment=surroundings(agent_home), forked=True) for _ in range(2)
    ]
    try:
        for each in (first, again):
            await each.call("initialize", protocolVersion=1, clientCapabilities={})
        sessions = [
            (await Talk.begin(first, provider, each, tmp_path)).session for each in DIALECTS
        ]
        for session in sessions:
            first.prompt(session, [half, limit])
            await first.until(lambda line, id=session: id in str(line) and RATE in str(line))
        first.process.kill()
        await first.process.wait()
        for session in sessions:
            here = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
            await again.call("session/load", **here)
            talk = Talk(again, provider, session)
            await talk.choose("mode", "always-approve")
            after = await talk.turn({"text": "Heard", "call": echo("on4")}, "And on")
            assert (after.error, after.words) == ("", "HeardAnd on")
            # The prompts themselves are scripts with these words.
            assert str(after.asked[-1].body).count("half of it") == 1
    finally:
        await first.kill()
        await again.kill()
