"""The type of an ask: read from the stored object, which it keeps."""

from typing import Any

from hypothesis import given

from rookery.core.ask import (
    HEADER_ONLY,
    Ask,
    Away,
    Given,
    ask_of,
    asks_of,
    from_agent,
    from_header,
    stored,
)
from rookery.core.header import Header
from tests.core.hostile import foreign_json
from tests.core.making import Json, asked, idle, play, prompt, running

FIELDS = (
    *("id", "nonce", "kind", "options", "toolCall", "message", "schema", "url", "elicitation"),
    *("budget", "danger", "risk", "does", "explains", "announced", "always", "alwaysChoices"),
    *("alwaysReach", "alike", "same", "agent", "session", "ruled", "block", "at", "why", "theirs"),
)
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"name": "No id", "kind": "reject_once"},
]


def test_an_agent_brings_no_field_that_only_the_header_may_have() -> None:
    update = asked(away={"turn": 1}, given={"name": "Yes"}, decide=True, sent=True, step=[1, 2])
    ask = from_agent(update | {"theirs": {"danger": ""}})
    assert (ask.away, ask.given, ask.decide, ask.sent, ask.step) == (None, None, False, False, [])
    assert not ask.raw.keys() & set(HEADER_ONLY)
    assert ask.update == {key: update[key] for key in (*ask.raw, "sessionUpdate", "state")}


def test_the_header_says_what_became_of_it() -> None:
    given = {"option": "yes", "name": "Allow", "by": "cli", "more": 1}
    raw = {"id": "a1", "away": {"turn": 3, "ran": True}, "given": given, "step": [1, 2]}
    ask = from_header("a1", raw)
    assert ask.raw is raw
    assert ask.away == Away(3, ran=True, decide=False)
    assert ask.given == Given("Allow", "cli", {"option": "yes"})
    assert (ask.step, ask.is_waiting) == ([1, 2], False)


def test_an_ask_of_a_build_that_stored_no_id_has_the_headers() -> None:
    assert from_header("a1", {"kind": "question"}).raw == {"id": "a1", "kind": "question"}


def test_absent_is_not_empty() -> None:
    assert (from_agent({}).does, from_agent({"does": []}).does) == (None, [])
    assert (from_agent({}).schema, from_agent({"schema": {}}).schema) == (None, {})
    assert (from_agent({}).at, from_agent({"at": 0}).at) == (None, 0)


def test_only_options_with_an_id_can_be_chosen() -> None:
    ask = from_agent({"options": OPTIONS})
    assert [(option.id, option.allows) for option in ask.options] == [("yes", True)]
    assert ask.raw["options"] == OPTIONS


def test_a_changed_ask_differs_in_both_forms() -> None:
    ask = from_agent({"danger": "deletes", "other": 1}).with_("danger", alwaysChoices=["a"])
    assert (ask.danger, ask.always_choices) == ("", ["a"])
    assert ask.raw == {"other": 1, "alwaysChoices": ["a"]}


def test_the_header_keeps_what_no_field_knows() -> None:
    header = play(prompt(), running(), asked(unheard={"of": 1}), idle("waiting")).header
    assert asks_of(header)["a1"].raw["unheard"] == {"of": 1}
    assert stored(asks_of(header)) == header.asks
    assert (ask_of(header, "a1"), ask_of(header, ["a1"])) == (asks_of(header)["a1"], None)
    assert asks_of(Header({})) == {}


def fits(kind: Any, value: object) -> bool:
    return kind not in (str, int, bool) or isinstance(value, kind)


@given(foreign_json)
def test_any_value_can_be_read_and_every_field_is_of_its_type(value: Any) -> None:
    raw: Json = dict.fromkeys((*FIELDS, *HEADER_ONLY), value)
    ask = from_header("a1", raw)
    assert all(fits(kind, getattr(ask, key)) for key, kind in Ask.__annotations__.items())
    assert ask.raw is raw or raw["id"] != "a1"
    assert isinstance(ask.is_waiting, bool)
