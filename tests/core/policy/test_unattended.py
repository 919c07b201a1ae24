"""What is said where nobody is asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core import commands
from rookery.core.ask import from_agent
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.policy import modes, rules, unattended
from rookery.core.policy.modes import ALL, EVERY, RISKY
from rookery.core.policy.rules import Rule, Verdict
from rookery.core.policy.unattended import Order
from rookery.core.vendors.profiles import profile_of
from tests.core.making import asked, log, update

type Json = dict[str, Any]

LS = rules.Call("x", "execute", commands=(rules.Command("ls", "ls"),))
RM = LS._replace(danger="deletes files")
ASKS = Verdict("ask", (Rule("look", "ask", command=("*",)),))
ALLOWS = Verdict("allow", (Rule("r", "allow", command=("*",)),))
GUARDED = Verdict("ask", ALLOWS.rules, "it deletes files")  # of a rule that is not `destructive`
DENIES = Verdict("deny", (Rule("no", "deny", command=("*",)),))
NONE = Verdict("")


def settled(order: Order | None, call: rules.Call, verdict: Verdict) -> tuple[bool, str] | None:
    """As the worker does it, for an agent without modes of its own."""
    level = order.update()["confirm"] if order else EVERY
    guard = not unattended.allows_destructive(order)
    ruling = modes.rule_on(call, verdict, level, guard=guard)
    found = unattended.settled(order, ruling, call, verdict)
    return (found.allow, found.by) if found else None


YES, SOME, NO = Order("all"), Order("risky"), Order("reject")
ANYTHING = Order("all", destructive=True)
REJECTED = (False, "unattended:reject")


@pytest.mark.parametrize(
    ("order", "call", "verdict", "said"),
    [
        (None, LS, NONE, None),
        (YES, LS, NONE, (True, "unattended:all")),
        (YES, RM, NONE, REJECTED),
        (ANYTHING, RM, NONE, (True, "unattended:all")),
        (ANYTHING, RM, GUARDED, (True, "unattended:all")),
        (YES, RM, GUARDED, REJECTED),
        (YES, LS, ASKS, REJECTED),
        (ANYTHING, LS, ASKS, REJECTED),
        (YES, LS, DENIES, (False, "rule:no")),
        (ANYTHING, RM, DENIES, (False, "rule:no")),
        (SOME, LS, NONE, (True, "unattended:risky")),
        (SOME, RM, NONE, REJECTED),
        (SOME, LS._replace(kind="other"), NONE, REJECTED),
        (NO, LS, NONE, REJECTED),
        (NO, LS, ALLOWS, (True, "rule:r")),
    ],
)
def test_rules_come_first_and_nothing_waits(
    order: Order | None, call: rules.Call, verdict: Verdict, said: tuple[bool, str] | None
) -> None:
    assert settled(order, call, verdict) == said


@given(
    st.sampled_from([YES, SOME, NO, ANYTHING]),
    st.sampled_from([LS, RM]),
    st.sampled_from([NONE, ASKS, ALLOWS, GUARDED, DENIES]),
)
def test_every_call_is_settled_without_asking(
    order: Order, call: rules.Call, verdict: Verdict
) -> None:
    assert settled(order, call, verdict) is not None


SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("order", "required", "action", "verdict"),
    [
        (YES, [], "accept", None),
        (YES, ["a"], "decline", None),
        (SOME, [], "decline", "deny"),
        (NO, ["a"], "decline", "deny"),
    ],
)
def test_a_question_is_answered_at_once(
    order: Order, required: list[str], action: str, verdict: str | None
) -> None:
    ask = {"id": "q", "kind": "question", "schema": SCHEMA | {"required": required}}
    answer = unattended.answered(order, from_agent(ask))
    assert answer.reply["action"] == action
    assert answer.draft.update.get("verdict") == verdict
    assert (answer.draft.by or "").startswith(unattended.BY)


def header(agent: str, *updates: Json) -> Header:
    made = EMPTY
    for event in log(update("_session", id="s", cwd="/w", agent=agent), *updates):
        made = made.with_(**advance(made, event))
    return made


def told(order: Order) -> Json:
    return update("_session", **order.update())


def test_choosing_a_mode_ends_unattended_also_in_old_logs() -> None:
    made = header("player", told(YES))
    assert unattended.order_of(made.unattended) == YES._replace(origin="unattended all")
    set_confirm = commands.offline({"do": "set", "option": "confirm", "value": "every"})
    older = update("_session", confirm="all", confirmBy=None, mode=None)
    for back in (set_confirm, older):
        assert back is not None
        assert header("player", told(YES), back).unattended is None
    assert header("player", told(YES), update("_session", title="x")).unattended is not None


@pytest.mark.parametrize("given", [None, "all", [], {}, {"approve": "ask"}, {"approve": ["all"]}])
def test_an_invalid_unattended_setting_is_ignored(given: object) -> None:
    assert unattended.order_of(given) is None
    assert header("player", update("_session", confirm="every", unattended=given)).asks == {}


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "rookery", "openhands"])
def test_an_agent_with_modes_is_set_to_ask(agent: str) -> None:
    """Else nobody could say no to what cannot be undone (decision 0010)."""
    profile = profile_of(agent, [])
    made = header(agent, told(YES))
    assert modes.for_agent(made.confirm_chosen[0], made.unattended) == EVERY
    assert modes.level(made, profile) == ALL
    assert (made.confirm, made.decides) == (ALL, False)
    made = header(agent, told(NO))
    assert (modes.level(made, profile), made.decides) == (EVERY, False)
    made = header(agent, told(SOME))
    assert modes.for_agent(made.confirm_chosen[0], made.unattended) == RISKY


def test_destructive_calls_are_never_allowed_for_good() -> None:
    options = [{"optionId": "ya", "name": "Always", "kind": "allow_always"}]
    ruling = modes.Judgement("allow", "unattended:all", "allowed (run)")
    answer = modes.ruled(from_agent(asked(options=options, danger="deletes files")), ruling)
    assert answer.reply == {"outcome": {"outcome": "cancelled"}}
    answer = modes.ruled(from_agent(asked(options=options)), ruling)
    assert answer.reply["outcome"]["optionId"] == "ya"


@pytest.mark.parametrize(
    ("value", "good"),
    [("all", True), ("risky", True), ("reject", True), ("ask", False), ("", False)],
)
def test_the_command_that_sets_it_is_checked(value: str, good: bool) -> None:
    command = {"do": "set", "option": "unattended", "value": value, "told": "x" * 999}
    assert (commands.check(command, 1000) is None) is good
    if good:
        done = commands.offline(command)
        assert done is not None
        assert len(done["unattended"]["told"]) == unattended.MAX_ORIGIN_LENGTH
