"""Rate limits: reset times as agents give them, and when a prompt is sent again."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from rookery.core.header import EMPTY, Header
from rookery.core.limits import Policy
from rookery.core.turn import rate_limit
from rookery.core.turn.messages import Answered, Prompted
from rookery.core.turn.rate_limit import ORIGIN, epoch_of, is_limit, limit_of, resume_at
from tests.core.hostile import foreign_json
from tests.core.making import Json, only, play, prompt, running, text, update
from tests.core.turn.test_turn_table import HELLO, IDLE, RUNNING, appended, go

POLICY = Policy(rate_limit_auto_resume=True)
NOON = 1_900_000_000_000.0
LIMITED = {"code": 1, "message": "slow", "data": {"errorKind": "rate_limit"}}


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        (1_900_000_000, NOON),
        (1_900_000_000_000, NOON),
        (1_900_000_000.5, NOON + 500),
        ("1900000000", NOON),
        ("2030-03-17T17:46:40Z", NOON),
        ("2030-03-17 17:46:40z", NOON),
        ("2030-03-17T19:46:40+02:00", NOON),
        ("2030-03-17T12:16:40.250-0530", NOON + 250),
        ("1970-01-01T00:00Z", 0),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2030-03-17T17:46:40", None),
        ("2030-13-17T17:46:40Z", None),
        ("noon", None),
        ("", None),
        (True, None),
        (-1, None),
        (0, None),
        (float("nan"), None),
        (None, None),
        ([], None),
    ],
)
def test_a_reset_time_is_read_as_agents_give_it(value: Any, milliseconds: float | None) -> None:
    assert epoch_of(value) == milliseconds


@given(foreign_json)
def test_no_reset_time_breaks_the_reader(value: Any) -> None:
    epoch_of(value)


def header(since: int = 0, **limit: Any) -> Header:
    known = {"prompt": HELLO, **limit}
    return EMPTY.with_(reason="rate_limited", since=since, rateLimit=known)


def test_a_prompt_is_sent_again_after_the_reset_and_the_grace() -> None:
    assert resume_at(header(resetsAt=1_900_000_000), POLICY) == NOON + 15_000
    soon = int(NOON) - 1000
    assert resume_at(header(soon, resetsAt=1_900_000_000), POLICY) == soon + 30_000, "at least"
    assert resume_at(header(1000, retryAfter=60), POLICY) == 1000 + 75_000


@pytest.mark.parametrize(
    "changed",
    [
        {"rateLimit": None},
        {"state": "running"},
        {"reason": "cancelled"},
        {"rateLimit": {"resetsAt": 1_900_000_000}},
        {"rateLimit": {"prompt": HELLO, "resetsAt": "noon"}},
        {
            "rateLimit": {
                "prompt": HELLO,
                "resetsAt": 1_900_000_000,
                "resumed": Policy().rate_limit_most,
            }
        },
    ],
)
def test_no_resend_without_a_reset_time_a_prompt_or_an_end(changed: Json) -> None:
    before = header(resetsAt=1_900_000_000, resumed=4)
    assert resume_at(before, POLICY) is not None
    assert resume_at(before.with_(**changed), POLICY) is None
    assert resume_at(before, Policy()) is None, "opt-in"


def test_the_users_prompt_ends_a_streak_of_resends() -> None:
    turn = IDLE
    for count in (1, 2):
        turn, effects = go(turn, Prompted("", HELLO, "rule:x", ORIGIN))
        sent = next(effect for effect in effects if hasattr(effect, "draft")).draft
        assert (sent.cause, sent.by, sent.update["origin"]) == (None, "rule:x", ORIGIN)
        turn, effects = go(turn._replace(phase="running"), Answered(None, LIMITED))
        limit = appended(effects)[0]
        assert (limit["resumed"], limit["prompt"], turn.phase) == (count, HELLO, "idle")
    turn, _ = go(turn, Prompted("p", HELLO, "tui"))
    assert turn.resumed == 0
    _, effects = go(RUNNING, Answered(None, LIMITED))
    assert "resumed" not in appended(effects)[0]


def test_a_reset_time_in_the_words_is_the_agents_own_too() -> None:
    words = 'Error: {"errorKind": "rate_limit", "resetsAt": 1900000000}'
    assert limit_of({"message": words}, (), 0)["resetsAt"] == 1_900_000_000
    assert "resetsAt" not in limit_of({"message": "slow"}, (), 0)


def test_a_limit_can_be_resumed_by_hand() -> None:
    limit = update("_rate_limit", message="slow", prompt=[text("again")])
    block = only(play(prompt("again"), running(), limit), "notice")
    command = {"do": "retry", "turn": 1}
    again, other = block["actions"]
    assert again == {"label": "Retry now", "command": command}
    assert (other["label"], other["choose"]) == ("Continue with another agent", "agent")
    assert other["command"] == {"do": "switch", "reason": "rate_limited"}


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Internal error", "data": {"error": "Error code: 429 - Rate limit reached."}},
        {"message": "litellm.RateLimitError: slow down"},
        {"message": "HTTP/1.1 429", "data": None},
        {"message": "It said: 429 Too Many Requests"},
    ],
)
def test_a_429_in_an_agents_own_words_is_a_rate_limit(error: Json) -> None:
    """crow and others hand on their provider's error in one of any code; the words are shown."""
    assert is_limit(error)
    assert "429" in limit_of(error, (), 0)["message"] or "slow" in limit_of(error, (), 0)["message"]


@pytest.mark.parametrize("words", ["line 429", "Error code: 4290", "429 files", "HTTP 500", ""])
def test_another_number_is_no_rate_limit(words: str) -> None:
    assert not is_limit({"message": "Internal error", "data": {"error": words}})


CODEX = {"codexErrorInfo": "usageLimitExceeded"}
CLOCK = datetime(2026, 11, 18, 11, 43, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("You've hit your usage limit. Visit x or try again at 12:32 PM.", "18T12:32:00+01:00"),
        ("try again at 9:05 AM.", "19T09:05:00+01:00"),
        ("try again at 12:10 am", "19T00:10:00+01:00"),
        ("try again at 23:10", "18T23:10:00+01:00"),
        ("try again at Nov 20th, 2026 3:05 PM.", "20T15:05:00+01:00"),
        ("Try again in 2 hours 5 minutes.", "18T13:48:00+01:00"),
        ("try again in 1 day, 2 hours and 3 minutes", "19T13:46:00+01:00"),
        ("Please retry in 90s", "18T11:44:30+01:00"),
        ("You've hit your 5-hour limit · resets 12:47pm (UTC)", "18T12:47:00+00:00"),
        ("You've hit your limit · resets 3pm (Europe/Berlin)", "18T15:00:00+01:00"),
        ("weekly limit · resets Nov 20, 3pm (Europe/Berlin)", "20T15:00:00+01:00"),
        ("resets 5 times", ""),
        ("try again at Feb 31st, 2026 3:05 PM.", ""),
        ("try again at 27:61 PM", ""),
        ("try again in 999999 days", ""),
        ("try again later", ""),
    ],
)
def test_a_reset_in_words_is_read_by_the_agents_clock(words: str, at: str) -> None:
    error = {"message": "Internal error", "data": {"message": words, **CODEX}}
    assert rate_limit.is_limit(error)
    limit = rate_limit.limit_of(rate_limit.dated(error, CLOCK), (), 0)
    assert limit.get("resetsAt", "") == (f"2026-11-{at}" if at else "")


def test_a_time_that_is_told_as_such_counts_and_another_error_has_none() -> None:
    told: Json = {"message": "try again in 5 s", "data": {"resetsAt": 5, **CODEX}}
    assert rate_limit.dated(told, CLOCK) is told
    other: Json = {"message": "try again in 5 s"}
    assert rate_limit.dated(other, CLOCK) is other
    bare: Json = {"message": "Error code: 429", "data": "try again in 5 s"}
    assert "resetsAt" in rate_limit.dated(bare, CLOCK)["data"]
