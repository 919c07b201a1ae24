"""The pure part of kept asks: which asks are kept, how they are asked again, what is the same."""

from typing import Any

import pytest
from hypothesis import given

from rookery.core.ask import asks_of, from_agent
from rookery.core.asks import identity, kept_asks
from rookery.core.asks.asks import Refusal
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json.events import Draft, Event
from tests.core.hostile import foreign_json
from tests.core.making import Json, asked, blocks, call, idle, news, play, prompt, running, update

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
RUN = {"kind": "execute", "rawInput": {"command": "make"}, "title": "make"}
ASK = asked(toolCall={"toolCallId": "t", **RUN}, options=OPTIONS)
BEGUN = [prompt(), running()]
READY = update("_agent", state="ready", name="crow", sessionId="x")
EXITED = update("_agent", state="exited", name="crow", status=1)
STOPPED = update("_agent", state="stopped", name="crow", reason="stop")
DONE = update("_ask", id="a0", state="closed", outcome={"outcome": "selected", "optionId": "yes"})


def header(*updates: Json) -> Header:
    return play(*updates).header


def digest(update: Json, *known: Any) -> str:
    return identity.digest(from_agent(update), *known)


def answer(**fields: Any) -> Json:
    return {"do": "answer", "id": "c1", "ask": "a1", "nonce": "n1", **fields}


KILLED = [
    [idle("interrupted"), EXITED],
    [EXITED, idle("agent_exited")],
    [idle("waiting"), STOPPED],
    [idle("waiting"), EXITED],
    [idle("interrupted")],
]


@pytest.mark.parametrize("end", KILLED)
def test_open_asks_are_kept_when_the_agent_is_gone(end: list[Json]) -> None:
    found = header(READY, *BEGUN, ASK, *end)
    assert found.asks.keys() == {"a1"}
    assert found.asks["a1"]["away"] == {"turn": 1, "ran": False}
    assert kept_asks.plan(found, resends=True) == "resend"
    assert kept_asks.plan(found, resends=False) == "decide"
    assert kept_asks.unanswered(found) == 1


OTHER = {"toolCallId": "o", "title": "Dig"}
STEPS: list[tuple[str, list[Json], bool]] = [
    ("nothing", [], False),
    ("another call is announced", [call("o", status="pending")], False),
    ("another call runs", [call("o", status="in_progress")], True),
    ("another call ran", [call("o"), news("o", status="completed")], True),
    ("another call failed", [call("o"), news("o", status="failed")], True),
    ("the call itself is told as running", [call("t", status="in_progress")], False),
    ("a terminal", [update("_terminal", id="x", state="started", command="ls")], True),
    ("a write", [update("_turn", state="running", ran=True)], True),
    ("an ask was answered", [asked("a0", options=OPTIONS), DONE], True),
    ("a prompt was steered in", [update("_prompt", prompt=[], steered=True)], True),
    ("words alone", [update("agent_message_chunk", content={"type": "text", "text": "x"})], False),
]


@pytest.mark.parametrize("end", KILLED)
@pytest.mark.parametrize(("steps", "ran"), [s[1:] for s in STEPS], ids=[s[0] for s in STEPS])
def test_steps_that_ran_are_known_from_the_log(
    steps: list[Json], ran: bool, end: list[Json]
) -> None:
    """Then a person decides, but for an agent that goes on by itself."""
    found = header(READY, *BEGUN, *steps, ASK, *end)
    assert found.asks["a1"]["away"]["ran"] is ran
    assert kept_asks.plan(found, resends=True) == ("decide" if ran else "resend")
    able = header({**READY, "continues": True}, *BEGUN, *steps, ASK, *end)
    assert kept_asks.plan(able, resends=True) == "continue"


def test_steps_of_the_turn_before_do_not_count() -> None:
    before = [*BEGUN, call("o"), news("o", status="completed"), idle()]
    assert header(*before, *BEGUN, ASK, idle("waiting")).asks["a1"]["away"]["ran"] is False


def test_steps_of_the_turn_that_was_to_ask_again_count() -> None:
    """It was killed again, before it asked."""
    again = [prompt(origin="ask", how="resend", of=1), running(), call("o", status="in_progress")]
    found = header(*BEGUN, ASK, idle("interrupted"), *again, idle("interrupted"))
    assert found.asks["a1"]["away"] == {"turn": 1, "ran": True}


@pytest.mark.parametrize("reason", ["end_turn", "cancelled", "failed"])
def test_a_turn_that_closed_its_asks_keeps_none(reason: str) -> None:
    """Also in the logs of the build before."""
    shut = update("_ask", id="a1", state="closed", outcome={"outcome": "cancelled"})
    assert header(*BEGUN, ASK, shut, idle(reason)).asks == {}


def test_a_kept_ask_stands_again_once_with_a_note_in_its_old_place() -> None:
    """One ask, not two; not news; and since when it waits is kept."""
    first = [READY, *BEGUN, ASK, idle("interrupted")]
    again = {**ASK, "again": True, "toolCall": {"toolCallId": "t2", **RUN}}
    document = play(*first, prompt(origin="ask", how="continue", of=1), running(), again)
    old, new = blocks(document, "ask")
    assert (old["status"], old["actions"], old["note"]) == ("moved", [], "")
    assert (new["status"], len(new["actions"])) == ("asked", 2)
    kept = document.header.asks["a1"]
    assert "away" not in kept
    assert kept["at"] == play(*first).header.asks["a1"]["at"]
    assert document.header.news == play(*first).header.news


def test_the_same_call_under_its_old_id_is_shown_in_the_new_turn() -> None:
    again = {**ASK, "again": True}
    document = play(*BEGUN, call("t", **RUN), ASK, idle("waiting"), *BEGUN, again)
    [_, card] = blocks(document, "tool")
    [_, new] = blocks(document, "ask")
    assert card["id"].startswith("2.")
    assert new["parent"] == card["id"]


def test_an_answer_is_kept_and_the_ask_stays_open_until_it_is_passed_on() -> None:
    ask = asks_of(header(*BEGUN, ASK, idle("waiting")))["a1"]
    kept = kept_asks.kept_answer(ask, answer(option="yes", reason="go"), "cli")
    assert isinstance(kept, Draft)
    assert (kept.cause, kept.by) == ("c1", "cli")
    document = play(*BEGUN, ASK, idle("waiting"), kept.update)
    assert document.header.asks["a1"]["given"]["option"] == "yes"
    assert kept_asks.unanswered(document.header) == 0
    [block] = blocks(document, "ask")
    assert (block["status"], block["actions"]) == ("kept", [])
    assert "You answered “Allow”" in block["text"]
    assert "waiting for the agent" in block["text"]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (answer(option="yes", nonce="x"), "wrong_nonce"),
        (answer(option="maybe"), "unknown_option"),
        (answer(), "unknown_option"),
    ],
)
def test_an_invalid_answer_is_refused_at_once(command: Json, reason: str) -> None:
    ask = asks_of(header(*BEGUN, ASK, idle("waiting")))["a1"]
    refusal = kept_asks.kept_answer(ask, command, None)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_resending_the_prompt_is_offered_once() -> None:
    """With two options of ours, whatever the agent's were; the danger is asked about again then."""
    risky = {**ASK, "danger": "deletes"}
    found = header(*BEGUN, call("o", status="completed"), risky, idle("waiting"))
    [draft] = kept_asks.undecided(found)
    document = play(*BEGUN, call("o", status="completed"), risky, idle("waiting"), draft.update)
    assert kept_asks.undecided(document.header) == []
    ask = asks_of(document.header)["a1"]
    assert [option.id for option in ask.options] == ["again", "drop"]
    assert "danger" not in ask.raw
    assert ask.away == (1, True, False)
    again, drop = blocks(document, "ask")[-1]["actions"]
    assert (again["label"], drop["label"]) == ("Send the prompt again", "Drop it")
    assert kept_asks.is_drop(ask, drop["command"])
    assert not kept_asks.is_drop(ask, again["command"])
    kept = kept_asks.kept_answer(ask, answer(option="no"), "cli")
    assert isinstance(kept, Draft), "what the agent offered can be answered all the same"
    both = play(
        *(*BEGUN, call("o", status="completed"), risky, idle("waiting"), draft.update, kept.update)
    )
    assert kept_asks.unanswered(both.header) == 1, "how it goes on is still to be decided"
    last = blocks(both, "ask")[-1]
    assert (last["status"], len(last["actions"])) == ("asked", 2)
    assert "“Reject” is saved" in last["note"]
    sent = play(
        *(*BEGUN, call("o", status="completed"), risky, idle("waiting"), draft.update),
        *(prompt(origin="ask", how="forced", of=1), running()),
    )
    ask = asks_of(sent.header)["a1"]
    assert (ask.raw["options"], ask.danger) == (OPTIONS, "deletes"), "the agent's own stand again"
    assert kept_asks.unanswered(sent.header) == 0, "it is the agent's turn"
    assert [block["status"] for block in blocks(sent, "ask")] == ["moved", "kept"]
    killed = sent.header.with_(**kept_asks.turn_over(sent.header, idle("interrupted")))
    assert len(kept_asks.undecided(killed)) == 1, "and again, where it did not come to that"


WAYS = [
    ("continue", True, False, "continue"),
    ("continue", False, False, "decide"),
    ("continue", True, True, "decide"),
    ("resend", False, False, "resend"),
    ("resend", True, False, "continue"),
    ("resend", False, True, "decide"),
    ("resend", True, True, "decide"),
    ("forced", False, False, "resend"),
    ("forced", False, True, "resend"),
    ("forced", True, True, "resend"),
    ("forced", True, False, "continue"),
    ("anew", False, True, "resend"),
    ("anew", True, False, "continue"),
    ("", True, True, ""),
]


@pytest.mark.parametrize(("wanted", "continues", "forgot", "way"), WAYS)
def test_the_way_back_is_decided_once_the_agent_is_ready(
    wanted: str, continues: bool, forgot: bool, way: str
) -> None:
    """A conversation that did not come back is no silent reason to say it all again."""
    assert kept_asks.way(wanted, continues=continues, forgot=forgot) == way


SAME = [
    ({}, {}, True),
    ({}, {"toolCallId": "other"}, True),
    ({}, {"title": "another title"}, True),
    ({}, {"kind": "edit"}, False),
    ({}, {"rawInput": {"command": "make install"}}, False),
    ({}, {"rawInput": {"command": "make", "cwd": "/"}}, False),
    ({"rawInput": {"a": 1, "b": 2}}, {"rawInput": {"b": 2, "a": 1}}, True),
    ({}, {"content": [{"type": "diff", "path": "/a", "newText": "x"}]}, False),
    (
        {"content": [{"type": "diff", "path": "/a", "newText": "x"}]},
        {"content": [{"type": "diff", "path": "/a", "newText": "y"}]},
        False,
    ),
    (
        {"content": [{"type": "terminal", "terminalId": "1"}]},
        {"content": [{"type": "terminal", "terminalId": "2"}]},
        True,
    ),
    ({"rawInput": None}, {"rawInput": None, "title": "other"}, False),
]


@pytest.mark.parametrize(("one", "two", "same"), SAME)
def test_asks_are_compared_by_what_they_do_not_by_title(one: Json, two: Json, same: bool) -> None:
    def ask(**changes: Any) -> Json:
        return asked(toolCall={"toolCallId": "t", **RUN, **changes}, options=OPTIONS)

    assert (digest(ask(**one)) == digest(ask(**two))) is same


def test_a_vague_ask_stands_for_the_calls_announced_around_it() -> None:
    """Some ask under a fresh id and one title for everything: an answer to `ls` is none to `rm`."""
    vague = asked(toolCall={"toolCallId": "q", "title": "Confirm"}, options=OPTIONS)
    ls, rm = (
        identity.known_call({}, {"rawInput": {"command": word}}) for word in ("ls", "rm -rf .")
    )
    assert digest(vague, {}, [ls]) == digest(vague, {}, [ls])
    assert digest(vague, {}, [ls]) != digest(vague, {}, [rm])
    assert digest(ASK, {}, [ls]) == digest(ASK, {}, [rm])


def test_an_ask_with_only_an_id_stands_for_the_announced_call() -> None:
    bare = asked(toolCall={"toolCallId": "t"}, options=OPTIONS)
    assert digest(bare, identity.known_call({}, RUN)) == digest(ASK)


def test_questions_are_compared_by_words_and_form() -> None:
    def question(message: str, **schema: Any) -> Json:
        return update("_ask", kind="question", message=message, schema=schema)

    assert digest(question("who?", a=1)) == digest(question("who?", a=1))
    assert digest(question("who?", a=1)) != digest(question("who?", a=2))
    assert digest(question("who?")) != digest(question("what?"))


def test_several_asks_are_matched_in_any_order() -> None:
    """Also two that are the same."""
    one, two = (
        asked(name, toolCall={"toolCallId": name, "rawInput": {"n": n}}, options=OPTIONS)
        for name, n in (("a1", 1), ("a2", 2))
    )
    twin = {**one, "id": "a3"}
    found = header(*BEGUN, one, two, twin, idle("interrupted"))
    marks = [digest(ask) for ask in (two, one, one)]
    taken: list[str] = []
    for mark in marks:
        match = kept_asks.matching(found, mark, taken)
        assert match is not None
        taken.append(match.id)
    assert taken == ["a2", "a1", "a3"]
    assert kept_asks.matching(found, marks[0], taken) is None
    assert kept_asks.replaced(found) is None, "which of them gives way is not known"


@pytest.mark.parametrize("do", ["cancel", "clear", "switch", "answer"])
def test_the_user_closes_kept_asks_of_a_sleeping_session(do: str) -> None:
    found = header(*BEGUN, ASK, idle("waiting"))
    forgetting = {"clear": "_context", "switch": "_agent"}
    if do in forgetting:
        drafts = kept_asks.forgotten(found, {"sessionUpdate": forgetting[do]})
    else:
        command = answer(cancel=True) if do == "answer" else {"do": do, "id": "c1"}
        drafts = kept_asks.offline(found, command, "cli") or []
        assert drafts[-1].cause == "c1"
    for draft in drafts:
        event = Event(99, 99, draft.cause, draft.by, draft.update)
        found = found.with_(**advance(found, event))
    assert found.asks == {}
    assert found.dropped is (do in ("cancel", "answer"))


@given(foreign_json, foreign_json, foreign_json)
def test_no_json_breaks_what_compares_and_keeps(one: Any, two: Any, three: Any) -> None:
    ask = asked(toolCall=one, options=two, away=three, given=two, decide=one)
    digest(ask, one if isinstance(one, dict) else None)
    found = header(*BEGUN, ask, idle("waiting"))
    assert kept_asks.plan(found, resends=True) in ("resend", "decide")
    for draft in kept_asks.undecided(found):
        found = found.with_(**advance(found, Event(9, 9, None, None, draft.update)))
    kept_asks.kept_answer(asks_of(found)["a1"], answer(option=three, content=one), None)
    advance(found, Event(9, 9, None, None, update("_ask", id="a1", state="answered", given=one)))
    assert EMPTY.asks == {}
