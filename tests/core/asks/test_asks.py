"""Asks: made of requests, closed once, with the nonce that the agent never sees."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.ask import Ask
from rookery.core.asks.asks import (
    CANCELLED,
    Answer,
    Refusal,
    answered,
    asked,
    cancelled,
    letters,
    meant,
)
from tests.core.hostile import foreign_json
from tests.core.making import Json, play

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once", "_meta": {"x": 1}},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
PERMISSION = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": OPTIONS}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
QUESTION = {"message": "Who?", "requestedSchema": SCHEMA}


def permission() -> Ask:
    ask = asked("a1", "n1", "session/request_permission", PERMISSION)
    assert ask is not None
    return ask


def question() -> Ask:
    ask = asked("a1", "n1", "elicitation/create", QUESTION)
    assert ask is not None
    return ask


def command(**fields: Any) -> Json:
    return {"id": "c1", "do": "answer", "ask": "a1", "nonce": "n1", **fields}


def test_a_permission_keeps_the_agents_options_verbatim() -> None:
    assert permission().update == {
        "sessionUpdate": "_ask",
        "id": "a1",
        "state": "asked",
        "nonce": "n1",
        "kind": "permission",
        "toolCall": {"toolCallId": "t"},
        "options": OPTIONS,
    }


def test_an_elicitation_is_a_question() -> None:
    ask = question()
    assert (ask.kind, ask.message, ask.schema) == ("question", "Who?", SCHEMA)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/request_permission", None),
        ("session/request_permission", []),
        ("session/request_permission", {}),
        ("session/request_permission", {"options": []}),
        ("session/request_permission", {"options": [{"name": "no id"}, 7]}),
        ("elicitation/create", {"message": "x"}),
        ("elicitation/create", {"requestedSchema": {}}),
        ("fs/read_text_file", PERMISSION),
    ],
)
def test_what_no_person_could_answer_is_no_ask(method: str, params: Any) -> None:
    assert asked("a1", "n1", method, params) is None


def test_an_option_answers_and_records_who_did() -> None:
    answer = answered(permission(), command(option="no"), "tui")
    assert isinstance(answer, Answer)
    assert answer.reply == {"outcome": {"outcome": "selected", "optionId": "no"}}
    assert (answer.draft.cause, answer.draft.by) == ("c1", "tui")
    assert answer.draft.update == {
        "sessionUpdate": "_ask",
        "id": "a1",
        "state": "closed",
        "outcome": {"outcome": "selected", "optionId": "no"},
        "name": "Reject",
    }


def test_a_permission_may_be_cancelled() -> None:
    answer = answered(permission(), command(cancel=True), None)
    assert isinstance(answer, Answer)
    assert answer.reply == CANCELLED
    assert answer.draft.update["outcome"] == {"outcome": "cancelled"}


@pytest.mark.parametrize("option", [None, "", "maybe", 7, ["yes"]])
def test_an_option_that_was_not_offered_is_refused_with_those_that_were(option: Any) -> None:
    refusal = answered(permission(), command(option=option), None)
    assert refusal == Refusal("unknown_option", "The agent offers: yes, no.")


@pytest.mark.parametrize("nonce", [None, "", "n2", 1])
@pytest.mark.parametrize("ask", [permission(), question()])
def test_an_answer_without_the_nonce_is_refused(ask: Ask, nonce: Any) -> None:
    refusal = answered(ask, command(option="yes", action="accept") | {"nonce": nonce}, None)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "wrong_nonce"


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ({"action": "accept", "content": {"a": 1}}, {"action": "accept", "content": {"a": 1}}),
        ({"action": "accept"}, {"action": "accept", "content": {}}),
        ({"action": "decline", "content": {"a": 1}}, {"action": "decline"}),
        ({"action": "cancel"}, {"action": "cancel"}),
    ],
)
def test_a_question_is_accepted_declined_or_cancelled(given: Json, reply: Json) -> None:
    answer = answered(question(), command(**given), None)
    assert isinstance(answer, Answer)
    assert answer.reply == reply
    said = "1" if reply.get("content") else given["action"]
    assert answer.draft.update["name"] == said


def test_a_form_that_is_filled_in_wrongly_is_refused() -> None:
    for content in ({"a": "x"}, {"b": 1}):
        refusal = answered(question(), command(action="accept", content=content), None)
        assert isinstance(refusal, Refusal)
        assert refusal.reason == "invalid_form"


@pytest.mark.parametrize(
    ("option", "confirm", "reason"),
    [
        ("yes", None, "confirm_needed"),
        ("yes", "true", "confirm_needed"),
        ("yes", True, ""),
        ("all", True, "always_disabled"),
        ("no", None, ""),
    ],
)
def test_destructive_asks_are_confirmed_twice_and_never_for_good(
    option: str, confirm: Any, reason: str
) -> None:
    always = {"optionId": "all", "name": "Always", "kind": "allow_always"}
    params = {**PERMISSION, "options": [*OPTIONS, always]}
    ask = asked("a1", "n1", "session/request_permission", params, "deletes files")
    assert ask is not None
    outcome = answered(ask, command(option=option, confirm=confirm), None)
    assert getattr(outcome, "reason", "") == reason


@pytest.mark.parametrize("action", [None, "yes", 7])
def test_any_other_action_is_refused(action: Any) -> None:
    refusal = answered(question(), command(action=action, option="yes"), None)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "unknown_action"


def test_an_ask_whose_turn_ended_is_cancelled() -> None:
    answer = cancelled(permission(), "the turn was cancelled")
    assert answer.reply == CANCELLED
    assert cancelled(question(), "x").reply == {"action": "cancel"}
    document = play(permission().update, answer.draft.update)
    [_, block] = document.blocks.values()
    assert (block["status"], block["text"]) == ("cancelled", "The turn was cancelled")


@given(st.sampled_from([permission(), question()]), st.dictionaries(st.text(), foreign_json))
def test_no_answer_breaks_anything(ask: Ask, junk: Json) -> None:
    answered(ask, {**junk, "id": "c1"}, None)
    answered(ask, command() | junk | {"id": "c1", "nonce": "n1"}, None)


AGENTS = [
    [("1", "reject_once"), ("2", "allow_once"), ("3", "allow_always")],
    [("y", "reject_once"), ("n", "allow_once")],
]


@pytest.mark.parametrize("kinds", AGENTS)
def test_a_letter_means_the_same_whatever_an_agent_calls_its_options(
    kinds: list[tuple[str, str]],
) -> None:
    ids = {kind: name for name, kind in kinds}
    options = [{"optionId": name, "name": name, "kind": kind} for name, kind in kinds]
    ask = permission().with_(options=options)
    assert meant(ask, "y") == {"option": ids["allow_once"]}
    assert meant(ask, "n") == {"option": ids["reject_once"]}
    assert meant(ask, "d") == {"defer": True}
    assert meant(ask.with_(always="a rule"), "a") == {"always": True}
    always = meant(ask, "a")
    assert always == {"option": "3"} if "allow_always" in ids else isinstance(always, Refusal)


def test_a_meaning_without_an_answer_is_refused_with_a_word() -> None:
    assert isinstance(meant(permission().with_(danger="deletes it", always="x"), "a"), Refusal)
    assert meant(question(), "y") == {"action": "accept"}
    assert isinstance(meant(question(), "a"), Refusal)
    assert letters(question()) == ["y", "n", "d"]
