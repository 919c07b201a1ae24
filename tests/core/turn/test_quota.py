"""Quotas in one shape, whatever an agent calls them and however wrong it tells them."""

from typing import Any

import pytest
from hypothesis import given

from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header, Shown
from rookery.core.json.events import Event
from rookery.core.limits import Policy
from rookery.core.turn import quota, rate_limit
from rookery.core.turn.quota import ANY, Window
from tests.core.hostile import foreign_json
from tests.core.making import Json, idle, play, prompt, running, update

NOW = 1_795_000_000_000
SOON = NOW // 1000 + 7200


def told(meta: Any, *more: Json) -> Header:
    header = EMPTY
    first = update("usage_update", used=1, size=2, _meta=meta)
    for seq, each in enumerate((first, *more), 1):
        header = header.with_(**advance(header, Event(seq, NOW, None, None, each)))
    return header


def claude(**fields: Any) -> Json:
    return {"_claude/rateLimit": {"status": "allowed", "rateLimitType": "five_hour", **fields}}


def only(meta: Any) -> Window:
    [window] = quota.windows(told(meta))
    return window


def test_each_vendors_report_has_one_shape() -> None:
    assert only(claude(utilization=0.82, resetsAt=SOON)) == Window("5 h", 0.82, SOON * 1000, at=NOW)
    codex = {
        "primary": {"usedPercent": 82.0, "windowDurationMins": 299, "resetsAt": SOON},
        "secondary": {"used_percent": 100, "window_minutes": 10080, "resets_at": SOON},
    }
    assert quota.windows(told({"codex": {"rateLimits": codex}})) == [
        Window("5 h", 0.82, SOON * 1000, at=NOW),
        Window("weekly", 1.0, SOON * 1000, limited=True, at=NOW),
    ]
    own = [{"window": "requests", "used": 0.5, "resetsAt": "2026-11-18T13:00:00+00:00"}]
    assert only({"rookery": {"limits": own}}).name == "requests"


def test_windows_stand_side_by_side_and_the_newest_report_counts() -> None:
    weekly = update("usage_update", _meta=claude(rateLimitType="seven_day", utilization=0.3))
    again = update("usage_update", _meta=claude(utilization=0.9))
    header = told(claude(utilization=0.1), weekly, again)
    assert [window.text for window in quota.windows(header)] == ["weekly 30 %", "5 h 90 %"]


@pytest.mark.parametrize(
    ("given_", "used"),
    [(0, 0.0), (0.5, 0.5), (1, 1.0), (1.2, 1.0), (82, 0.82), (100, 1.0), (250, 1.0)],
)
def test_a_share_is_from_0_to_1_whatever_its_scale(given_: float, used: float) -> None:
    assert only(claude(utilization=given_)).used == pytest.approx(used)


@pytest.mark.parametrize("wrong", [-1, -0.01, 1e9, True, "0.5", None, [], {}])
def test_a_share_that_cannot_be_is_not_known(wrong: object) -> None:
    assert only(claude(utilization=wrong)).used is None


@pytest.mark.parametrize(
    "given_", [SOON, SOON * 1000, str(SOON), "2026-11-18T13:06:40Z", SOON + 0.5]
)
def test_a_reset_is_read_in_seconds_milliseconds_and_as_iso(given_: object) -> None:
    reset = only(claude(utilization=0.5, resetsAt=given_)).resets
    assert reset is not None
    assert abs(reset - SOON * 1000) <= 1000


@pytest.mark.parametrize("wrong", [0, 5, -3, 86_400, NOW + 400 * 86_400_000, 1e30, "soon", True])
def test_a_reset_in_1970_or_in_years_is_not_known(wrong: object) -> None:
    assert only(claude(utilization=0.5, resetsAt=wrong)).resets is None


def test_what_was_reset_or_told_long_ago_says_nothing() -> None:
    header = told(claude(utilization=0.9, resetsAt=SOON))
    assert quota.pressing(header, NOW) == quota.windows(header)[0]
    assert quota.pressing(header, SOON * 1000) is None
    without = told(claude(utilization=0.9))
    assert quota.pressing(without, NOW + quota.STALE - 1) is not None
    assert quota.pressing(without, NOW + quota.STALE) is None
    ahead = quota.pressing(without, NOW - 10 * quota.DAY)  # this clock was set back since
    assert ahead is not None


def test_only_what_is_nearly_used_up_is_pressing() -> None:
    assert quota.pressing(told(claude(utilization=0.74)), NOW) is None
    assert quota.pressing(told(claude(utilization=0.75)), NOW) is not None
    assert quota.pressing(told(claude(status="rejected")), NOW) is not None


def test_a_limit_that_was_met_is_a_window_until_a_turn_ends_well() -> None:
    met = [prompt(), running(), update("_rate_limit", message="slow", retryAfter=60)]
    document = play(*met, idle("rate_limited"))
    [window] = quota.windows(document.header)
    assert (window.name, window.limited) == (ANY, True)
    assert quota.windows(play(*met, idle("rate_limited"), prompt(), running(), idle()).header) == []


def test_a_limit_that_names_its_window_is_that_window() -> None:
    words = "You've hit your 5-hour limit · resets 12:47pm (UTC)"
    met = update("_rate_limit", message=words, resetsAt=SOON)
    assert quota.windows(told({}, met)) == [Window("5 h", None, SOON * 1000, limited=True, at=NOW)]


@given(foreign_json)
def test_anything_may_stand_there(value: object) -> None:
    for meta in (value, {"_claude/rateLimit": value}, {"x": {"rateLimits": {"primary": value}}}):
        header = told(meta)
        for window in quota.windows(header):
            assert window.used is None or 0 <= window.used <= 1
        quota.pressing(header, NOW)


def test_the_newest_report_of_an_agents_sessions_counts() -> None:
    heads: list[Json] = [
        {"id": "a", "agent": "claude", "limits": {"5 h": {"used": 0.1, "at": 1}}},
        {"id": "b", "agent": "claude", "limits": {"5 h": {"used": 0.2, "at": 2}}},
        {"id": "c", "agent": "rookery", "model": "m", "limits": {"tokens": {"used": 1, "at": 1}}},
        {"id": "d", "agent": "codex"},
        {"id": "e", "agent": "gemini", "limits": {"x": None}},
    ]
    found = [(each.who, each.session) for each in quota.newest(map(Shown, heads), "rookery")]
    assert found == [("claude", "b"), ("gemini", "e"), ("rookery (m)", "c")]
    for report in quota.newest(map(Shown, heads), "rookery"):
        assert quota.report_of(report.as_json()) == report


# --- continuing then ---------------------------------------------------------------------------

LIMIT = update("_rate_limit", message="slow", retryAfter=3600, prompt=[{"type": "text"}])


def ordered(*more: Json) -> Header:
    return play(prompt(), running(), LIMIT, idle("rate_limited"), *more).header


def test_a_session_continues_then_where_the_user_wants_it() -> None:
    assert rate_limit.resume_at(ordered(), Policy()) is None
    wanted = ordered(update("_session", resumes=True))
    assert rate_limit.resume_at(wanted, Policy()) is not None
    twice = ordered(update("_session", resumes=True), update("_session", resumes=True))
    assert rate_limit.resume_at(twice, Policy()) == rate_limit.resume_at(wanted, Policy())
    off = ordered(update("_session", resumes=True), update("_session", resumes=False))
    assert rate_limit.resume_at(off, Policy()) is None


@pytest.mark.parametrize("number", [1e308, -1, 10**300, "9", True, None], ids=str)
def test_nonsense_of_another_machine_is_no_quota(number: object) -> None:
    told = {"window": "5 h", "used": number, "resets": number, "at": 1_700_000_000_000}
    window = quota.report_of(told).window
    assert (window.used, window.resets, window.text) == (None, None, "5 h")


def test_an_order_outlasts_a_resend_and_ends_with_the_users_next_prompt() -> None:
    wanted = update("_session", resumes=True)
    again = prompt(origin=rate_limit.ORIGIN)
    met = [again, running(), {**LIMIT, "resumed": 1}, idle("rate_limited")]
    assert rate_limit.resume_at(ordered(wanted, *met), Policy()) is not None
    own = [prompt(), running(), LIMIT, idle("rate_limited")]
    assert rate_limit.resume_at(ordered(wanted, *own), Policy()) is None


def test_the_card_says_what_was_chosen_and_how_to_take_it_back() -> None:
    for updates, label, words in (
        ([], "Continue at the reset", "rate_limit_auto_resume"),
        ([update("_session", resumes=True)], "Don't continue at the reset", "continues by itself"),
    ):
        blocks = play(prompt(), running(), LIMIT, idle("rate_limited"), *updates).blocks.values()
        [card] = [block for block in blocks if block["status"] == "rate_limited"]
        assert label in [action["label"] for action in card["actions"]]
        assert words in card["text"]


def test_without_a_time_or_a_prompt_there_is_nothing_to_continue() -> None:
    for limit in (update("_rate_limit", message="m", prompt=[{}]), {**LIMIT, "prompt": []}):
        document = play(prompt(), running(), limit, idle("rate_limited"))
        assert not rate_limit.can_wait(document.header)
        labels = [each["label"] for block in document.blocks.values() for each in block["actions"]]
        assert "Continue at the reset" not in labels
