"""What a budget is, when it is reached, what an answer does; and what was used, whatever an agent
reports."""

import pytest

from rookery.core import budgets
from rookery.core.budgets import BadBudget, Budget, parse
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json
from rookery.core.settings.loosening import Guarded, loosened

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("500k tokens", Budget(500_000)),
        ("1.5M tokens", Budget(1_500_000)),
        ("1_000 token", Budget(1000)),
        ("2 USD", Budget(0, 2.0, "USD")),
        ("$2", Budget(0, 2.0, "USD")),
        ("€ 0.50", Budget(0, 0.5, "EUR")),
        ("3 chf", Budget(0, 3.0, "CHF")),
        ("500k tokens, $2", Budget(500_000, 2.0, "USD")),
        ("2 USD and 10k tokens", Budget(10_000, 2.0, "USD")),
        ("off", Budget()),
        ("", Budget()),
    ],
)
def test_a_budget_is_written_as_people_write_it(text: str, wanted: Budget) -> None:
    assert parse(text) == wanted
    assert parse(wanted.as_text()) == wanted


@pytest.mark.parametrize(
    "text",
    [
        *("500k", "2", "two USD", "$2 EUR", "-2 USD", "1k tokens, 2k tokens", "$1, 2 USD"),
        *(
            "0",
            "0 tokens",
            "2 USD / day",
            "1e3 tokens",
            "nan USD",
            "9" * 400 + " tokens",
            "$ tokens",
        ),
        "\u0662 USD",
    ],
)
def test_what_is_no_budget_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(BadBudget, match="500k tokens"):
        parse(text)


def test_a_flag_names_what_it_limits() -> None:
    assert budgets.chosen("2 USD") == ("session", "2 USD")
    assert budgets.chosen("turn=10k tokens") == ("turn", "10k tokens")
    with pytest.raises(BadBudget, match="turn="):
        budgets.chosen("week=2 USD")


@pytest.mark.parametrize(
    ("before", "now", "looser"),
    [
        ("off", "2 USD", False),
        ("2 USD", "off", True),
        ("2 USD", "3 USD", True),
        ("2 USD", "1 USD", False),
        ("2 USD", "1 EUR", True),
        ("10k tokens", "2 USD", True),
        ("10k tokens", "10k tokens, 2 USD", False),
        ("10k tokens, 2 USD", "20k tokens, 1 USD", True),
    ],
)
def test_a_looser_budget_in_the_file_waits_for_the_user(
    before: str, now: str, looser: bool
) -> None:
    old, new = (Guarded(choices={"session.budget_day": each}) for each in (before, now))
    assert bool(loosened(old, new)) is looser


def test_only_a_user_sets_a_budget_or_answers_for_one() -> None:
    from rookery.core.commands import is_guarded

    assert is_guarded({"do": "set", "option": "budget_session", "value": "off"})
    assert is_guarded({"do": "answer", "ask": "a1", "option": budgets.MORE})


# --- what was used -------------------------------------------------------------------------------


def used(*updates: Json) -> Json:
    header = EMPTY
    for seq, update in enumerate(updates, 1):
        header = header.with_(**advance(header, Event(seq, 1000 * seq, None, None, update)))
    return header.spent


PROMPT: Json = {"sessionUpdate": "_prompt", "turn": 1, "prompt": []}
RUNS: Json = {"sessionUpdate": "_turn", "state": "running", "turn": 1}


def usage(used: object, cost: object = None) -> Json:
    given = {} if cost is None else {"cost": {"amount": cost, "currency": "USD"}}
    return {"sessionUpdate": "usage_update", "used": used, "size": 1000, **given}


def ended(**usage: object) -> Json:
    return {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn", "usage": usage}


def test_tokens_of_a_turn_are_its_report_and_until_then_what_the_context_grew_by() -> None:
    begun = used(PROMPT, RUNS, usage(300), usage(500))
    assert begun["turn"]["tokens"] == begun["tokens"] == 500
    end = used(PROMPT, RUNS, usage(300), ended(inputTokens=900, outputTokens=100))
    assert end["turn"]["tokens"] == end["tokens"] == 1000
    next_ = used(PROMPT, RUNS, usage(300), ended(inputTokens=900), PROMPT, RUNS, usage(350))
    assert (next_["tokens"], next_["turn"]["tokens"]) == (950, 50)


def test_a_cost_that_is_the_sessions_total_counts_by_what_it_grew() -> None:
    spent = used(PROMPT, RUNS, usage(1, 0.5), ended(), PROMPT, RUNS, usage(1, 0.75))
    assert spent["cost"] == {"USD": 0.75}
    assert spent["turn"]["cost"] == {"USD": 0.25}


@pytest.mark.parametrize(
    "number", [-5, NAN, float("inf"), -float("inf"), 10**400, "12", None, True, [], 10**16]
)
def test_an_agent_that_lies_about_a_number_has_said_nothing(number: object) -> None:
    assert used(PROMPT, RUNS, usage(number, number), ended(inputTokens=number)) == EMPTY.spent


def test_totals_that_fall_never_give_anything_back() -> None:
    spent = used(PROMPT, RUNS, usage(500, 2.0), usage(100, 1.0), usage(400, 1.5))
    assert spent["tokens"] == 800
    assert spent["cost"] == {"USD": 3.5}


def test_an_agent_that_reports_less_than_it_streamed_is_not_believed() -> None:
    assert used(PROMPT, RUNS, ended(inputTokens=1) | {"atLeast": 700})["tokens"] == 700


# --- asked and answered --------------------------------------------------------------------------


def spent(tokens: int, cost: float = 0.0) -> Json:
    return {"tokens": tokens, "cost": {"USD": cost} if cost else {}}


def test_a_budget_says_what_was_used_of_it() -> None:
    found = budgets.reached("turn", parse("500k tokens"), spent(512_000), {})
    assert found is not None
    assert found.sentence() == "This turn has used 512k of 500k tokens."
    found = budgets.reached("day", parse("2 USD"), spent(0, 2.1), {})
    assert found is not None
    assert found.sentence() == "All sessions together have cost $2.10 of $2.00 today."
    assert budgets.reached("day", parse("2 EUR"), spent(10**9, 2.1), {}) is None


def asked(scope: str, text: str, now: Json) -> Json:
    found = budgets.reached(scope, parse(text), now, {})
    assert found is not None
    return budgets.asked("a1", "n1", found, day="2026-11-17")


def answered(ask: Json, option: str) -> Header:
    header = EMPTY.with_(**advance(EMPTY, Event(1, 1, None, None, ask)))
    outcome = {"outcome": "selected", "optionId": option}
    closed = {"sessionUpdate": "_ask", "id": "a1", "state": "closed", "outcome": outcome}
    return header.with_(**advance(header, Event(2, 2, None, None, closed)))


def test_continue_grants_as_much_again_once() -> None:
    header = answered(asked("session", "10k tokens", spent(32_000)), budgets.MORE)
    granted = budgets.granted(header, "session", "")
    assert budgets.reached("session", parse("10k tokens"), spent(41_999), granted) is None
    found = budgets.reached("session", parse("10k tokens"), spent(42_000), granted)
    assert found is not None
    assert found.sentence() == "This session has used 42k of 42k tokens."


def test_what_was_granted_for_a_day_ends_with_it() -> None:
    header = answered(asked("day", "2 USD", spent(0, 2.5)), budgets.MORE)
    assert budgets.granted(header, "day", "2026-11-17")["amount"] == 4.5
    assert budgets.granted(header, "day", "2026-11-18") == {}


def test_raise_holds_for_the_session_and_stop_for_nothing() -> None:
    ask = asked("turn", "10k tokens", spent(10_000))
    assert answered(ask, budgets.RAISE).budget == {"turn": "20k tokens"}
    stopped = answered(ask, budgets.STOP)
    assert (stopped.budget, stopped.granted, stopped.asks) == ({}, {}, {})


def test_it_is_raised_past_what_was_spent_and_one_answer_is_for_all() -> None:
    spent_ = [spent(50_000), spent(50_000, 3.0)]
    found = [
        budgets.used("turn", parse("10k tokens"), spent_[0], {}),
        budgets.used("session", parse("1 USD"), spent_[1], {}),
    ]
    ask = budgets.asked("a1", "n1", found[0], found[1:])
    assert answered(ask, budgets.RAISE).budget == {"turn": "80k tokens", "session": "4 USD"}
    assert answered(ask, budgets.LIFT).budget == {"turn": "off", "session": "off"}
    header = answered(ask, budgets.MORE)
    assert header.granted["session"]["amount"] == 4.0
    assert header.budget == {}


def test_a_budget_is_near_at_four_fifths_or_where_one_more_answer_would_pass_it() -> None:
    def near(tokens: int, last: int) -> bool:
        found = budgets.used("session", parse("100k tokens"), spent(tokens), {})
        return budgets.is_near(found, spent(last))

    assert [near(79_000, 0), near(80_000, 0), near(100_000, 0)] == [False, True, False]
    assert [near(50_000, 49_000), near(50_000, 50_000)] == [False, True]


def test_an_agent_cannot_pass_an_ask_of_its_own_for_one_about_a_budget() -> None:
    """Its fields come from our own hand: what an agent's request holds beside them is dropped."""
    from rookery.core.asks.asks import asked as asked_by_agent

    options = [{"optionId": budgets.RAISE, "name": "Yes", "kind": "allow_once"}]
    given = {"toolCall": {}, "options": options, "budget": {"scope": "day", "raised": "off"}}
    ask = asked_by_agent("a1", "n1", "session/request_permission", given)
    assert ask is not None
    assert not ask.is_about_budget
