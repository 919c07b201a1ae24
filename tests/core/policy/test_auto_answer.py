"""What is done with an action before it runs; how that is told on the wire and in the log."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.asks.asks import Judgement
from rookery.core.header import Header
from rookery.core.policy import auto_answer, modes, rules
from rookery.core.policy.auto_answer import judge
from rookery.core.policy.modes import ALL, EVERY, RISKY
from rookery.core.policy.rules import Rule
from rookery.core.vendors.profiles import Profile, offers_of, profile_of
from rookery.core.view.reduce import fold
from tests.core.making import log, only, update

type Json = dict[str, Any]


def call(line: str = "", kind: str = "execute", name: str = "") -> rules.Call:
    about: Json = {"kind": kind, "name": name, "rawInput": {"command": line} if line else {}}
    return rules.call_of("rookery", about, ["/w"], "/h")


LS, RM, TASK = call("ls"), call("rm -rf x"), call(kind="other", name="task")
ALLOW = Rule("yes", "allow", command=("ls*", "rm *"))
DENY = Rule("no", "deny", command=("ls*",), reason="why")
ASK = Rule("me", "ask", command=("ls*",))
OURS = profile_of("rookery", [])


@pytest.mark.parametrize(
    ("known", "seen", "confirm", "guard", "risk", "outcome", "by"),
    [
        ([DENY], LS, ALL, True, "LOW", "deny", "rule:no"),
        ([ALLOW], LS, EVERY, True, "HIGH", "allow", "rule:yes"),
        ([ASK], LS, ALL, True, "LOW", "ask", "rule:me"),
        ([ALLOW], RM, ALL, True, "LOW", "ask", "guard"),
        ([], RM, ALL, True, "LOW", "ask", "guard"),
        ([], RM, ALL, False, "LOW", "allow", "confirm:all"),
        ([], RM, RISKY, False, "LOW", "ask", "confirm:risky"),
        ([], LS, EVERY, True, "LOW", "ask", "confirm:every"),
        ([], LS, RISKY, True, "", "allow", "confirm:risky"),
        ([], LS, RISKY, True, "LOW", "allow", "confirm:risky"),
        ([], LS, RISKY, True, "MEDIUM", "allow", "confirm:risky"),
        ([], LS, RISKY, True, "HIGH", "ask", "confirm:risky"),
        ([], LS, RISKY, True, "UNKNOWN", "ask", "confirm:risky"),
        ([], LS, RISKY, True, "NONSENSE", "ask", "confirm:risky"),
        ([], LS, ALL, True, "HIGH", "allow", "confirm:all"),
        ([], TASK, RISKY, True, "LOW", "allow", "confirm:risky"),
        ([], TASK, RISKY, True, "HIGH", "ask", "confirm:risky"),
        ([], TASK, EVERY, True, "LOW", "ask", "confirm:every"),
        (
            [Rule("t", "deny", kind=("other",), tool=("task",))],
            TASK,
            ALL,
            True,
            "",
            "deny",
            "rule:t",
        ),
    ],
)
def test_rules_come_first_then_the_guard_then_the_mode(
    known: list[Rule],
    seen: rules.Call,
    confirm: str,
    guard: bool,
    risk: str,
    outcome: str,
    by: str,
) -> None:
    found = judge(known, seen, confirm, guard=guard, risk=risk, profile=OURS)
    assert (found.outcome, found.by) == (outcome, by)


def test_only_our_own_agents_tools_count_as_harmless() -> None:
    assert judge([], TASK, RISKY, guard=True, profile=Profile()).outcome == "ask"


@given(
    st.sampled_from([LS, RM, TASK, call("a | b"), call(kind="read")]),
    st.sampled_from([EVERY, RISKY, ALL]),
    st.booleans(),
    st.text(max_size=8) | st.sampled_from(["LOW", "HIGH"]),
)
def test_the_models_word_can_only_raise_the_risk(
    seen: rules.Call, confirm: str, guard: bool, risk: str
) -> None:
    without = judge([], seen, confirm, guard=guard, profile=OURS)
    said = judge([], seen, confirm, guard=guard, risk=risk, profile=OURS)
    assert without.outcome == "allow" or said.outcome != "allow"


def test_the_mode_on_display_is_the_one_that_judges() -> None:
    for value in (EVERY, RISKY, ALL):
        assert modes.judged_by(Header({"confirm": value})) == value
    assert modes.judged_by(Header({"confirm": modes.OF_THE_AGENT})) == EVERY


def test_judgement_is_offered_to_every_agent() -> None:
    for name in ("rookery", "claude", "nobody"):
        assert offers_of(profile_of(name, []))["_meta"]["rookery"]["judge"] is True


JUDGED = [Judgement("allow", "rule:a", "allowed by rule a"), Judgement("deny", "b", "c", "d")]


def test_a_request_and_its_answer_survive_the_wire() -> None:
    sent = {"judgements": [each.as_json() for each in JUDGED]}
    assert auto_answer.judgements_in(sent, 2) == JUDGED
    assert auto_answer.judgements_in(sent, 1) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["calls", "toolCall", "risk", "judgements", "outcome", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(json_values)
def test_nonsense_is_neither_a_request_nor_a_yes(value: Any) -> None:
    found = auto_answer.wanted_in(value)
    assert found is None or all(each.call for each in found)
    answered = auto_answer.judgements_in(value, 1)
    assert answered is None or answered[0].outcome in auto_answer.OUTCOMES


def test_a_rules_decision_is_noted_on_its_call() -> None:
    """Also where the call was not told of before; by whom it was is in the event."""
    seen = {"toolCallId": "t", "title": "run ls", "kind": "execute", "rawInput": {"command": "ls"}}
    draft = auto_answer.noted(seen, Judgement("deny", "rule:no", "denied by rule no", "why"))
    assert draft.by == "rule:no"
    assert "rawInput" not in draft.update["toolCall"]
    told = update("tool_call", **seen)
    document = fold(None, log(told, draft.update))
    block = only(document, "ask")
    assert block["parent"] == only(document, "tool")["id"]
    assert (block["text"], block["status"]) == ("Denied by rule no: why", "answered")
    assert (block["title"], block["kind"], block["actions"]) == ("run ls", "execute", [])
    assert only(fold(None, log(draft.update)), "ask")["parent"] is None


@pytest.mark.parametrize("confirm", [EVERY, RISKY, ALL])
@pytest.mark.parametrize("kind", ["read", "search", "think"])
def test_reads_are_not_asked_about_in_any_mode(confirm: str, kind: str) -> None:
    """Where the agent vouches for its tool; a rule goes before, danger and other places too."""
    seen = rules.Call("rookery", kind, paths=("/w/a",), roots=("/w",))

    def judged(seen: rules.Call, *known: Rule, **more: Any) -> str:
        said: Json = {"risk": "HIGH", "looks": True, "profile": OURS} | more
        return judge(known, seen, confirm, guard=True, **said).outcome

    assert judged(seen) == "allow"
    assert judged(seen, Rule("me", "ask", kind=(kind,))) == "ask"
    assert judged(seen, Rule("no", "deny", kind=(kind,))) == "deny"
    assert judged(seen._replace(danger="reads your keys")) == "ask"
    if confirm != ALL:
        for other in ({"looks": False}, {"profile": Profile()}):
            assert judged(seen, **other) == "ask"
        for changed in ({"outside": "/x"}, {"cut": True}, {"kind": "execute"}):
            assert judged(seen._replace(**changed)) == "ask"


def test_an_agent_vouches_for_a_tool_only_by_a_plain_yes() -> None:
    """Nothing but a plain yes counts."""
    given = [
        {"toolCall": {"kind": "read"}, "looks": said} for said in (True, False, "yes", 1, None)
    ]
    found = auto_answer.wanted_in({"calls": given})
    assert found is not None
    assert [each.looks for each in found] == [True, False, False, False, False]
