"""Watchdogs: a turn that stops moving, at its exact boundary. No clock is read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.limits import Policy
from rookery.core.turn import watchdogs
from rookery.core.turn.watchdogs import Moving, Quiet, Silent, Watch
from rookery.core.vendors.profiles import Profile, profile_of
from tests.core.making import Json

POLICY = Policy()
CLAUDE = profile_of("claude", [])
OTHER = Profile()
TICK = 0.001

TEXT: Json = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
COST: Json = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.1}}
NO_COST: Json = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
COMMANDS: Json = {"sessionUpdate": "available_commands_update", "availableCommands": []}
MODE: Json = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}


def said(text: str) -> Json:
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": content}


def call(title: str, **given: Any) -> Json:
    return {"sessionUpdate": "tool_call", "toolCallId": "t", "title": title, "rawInput": given}


def play(*news: tuple[float, Json], profile: Profile = CLAUDE) -> Watch:
    watch = watchdogs.began(0.0)
    for at, update in news:
        watch, _ = watchdogs.heard(watch, update, at, profile)
    return watch


def silent_at(watch: Watch, profile: Profile = CLAUDE, policy: Policy = POLICY) -> float | None:
    """When the turn is given up; checked one tick before, and at it."""
    at = watchdogs.deadline(watch._replace(quiet=True), policy, profile)
    if at is not None:
        before, nothing = watchdogs.ticked(watch._replace(quiet=True), at - TICK, policy, profile)
        assert nothing == []
        _, [bark] = watchdogs.ticked(before, at, policy, profile)
        assert isinstance(bark, Silent)
    return at


def test_a_silent_turn_is_reported_quiet_after_30_s() -> None:
    watch = play((10.0, TEXT))
    assert watchdogs.ticked(watch, 40.0 - TICK, POLICY, OTHER) == (watch, [])
    after, barks = watchdogs.ticked(watch, 40.0, POLICY, OTHER)
    assert barks == [Quiet(30.0)]
    assert watchdogs.ticked(after, 41.0, POLICY, OTHER) == (after, [])


def test_a_turn_is_reported_quiet_before_its_first_word_too() -> None:
    assert watchdogs.ticked(watchdogs.began(5.0), 35.0, POLICY, OTHER)[1] == [Quiet(30.0)]


def test_any_update_ends_a_quiet_turn() -> None:
    watch, _ = watchdogs.ticked(play((10.0, TEXT)), 40.0, POLICY, OTHER)
    assert watchdogs.heard(watch, COMMANDS, 50.0, OTHER)[1] == [Moving()]


def test_with_something_in_flight_it_is_neither_quiet_nor_silent() -> None:
    watch = watchdogs.in_flight(play((10.0, TEXT)), busy=True, now=11.0)
    assert watchdogs.deadline(watch, POLICY, CLAUDE) is None
    assert watchdogs.ticked(watch, 1e9, POLICY, CLAUDE) == (watch, [])


def test_silence_counts_from_when_nothing_is_in_flight() -> None:
    busy = watchdogs.in_flight(play((10.0, TEXT)), busy=True, now=11.0)
    free = watchdogs.in_flight(busy, busy=False, now=5000.0)
    assert silent_at(free) == 5120.0


def test_progress_then_silence_is_given_up_after_120_s() -> None:
    assert silent_at(play((10.0, TEXT))) == 130.0


def test_without_a_sign_of_progress_it_is_never_given_up() -> None:
    watch = play((1.0, COMMANDS), (2.0, MODE), (3.0, NO_COST))
    assert silent_at(watch) is None


@pytest.mark.parametrize("update", [COMMANDS, MODE, NO_COST])
def test_updates_that_are_no_sign_do_not_extend_the_grace(update: Json) -> None:
    assert silent_at(play((10.0, TEXT), (100.0, update))) == 130.0


def test_usage_with_cost_shortens_the_grace_to_20_s() -> None:
    assert silent_at(play((10.0, TEXT), (50.0, COST))) == 70.0


def test_cost_after_each_step_does_not_shorten_the_grace() -> None:
    watch = play((10.0, TEXT), (50.0, COST), profile=OTHER)
    assert silent_at(watch, OTHER) == 170.0


def test_0_turns_both_off() -> None:
    off = POLICY._replace(silent_after=0, force_end_after=0)
    assert watchdogs.deadline(play((10.0, TEXT)), off, CLAUDE) is None


def test_an_async_agent_lifts_the_grace_for_the_rest_of_the_prompt() -> None:
    watch = play((10.0, said("Async agent launched successfully.")), (20.0, COST))
    assert silent_at(watch) == 20.0 + 1800


@pytest.mark.parametrize(
    "update",
    [call("Bash", run_in_background=True), said("Command running in background with ID: 7")],
)
def test_a_background_command_lifts_the_grace_until_cost_arrives(update: Json) -> None:
    watch = play((10.0, update))
    assert silent_at(watch) == 1810.0
    paid, _ = watchdogs.heard(watch, COST, 30.0, CLAUDE)
    assert silent_at(paid) == 50.0


def test_a_wake_up_extends_the_grace_until_30_min_after_it() -> None:
    watch = play((10.0, call("ScheduleWakeup", delaySeconds=3600)), (20.0, COST))
    assert silent_at(watch) == 10 + 3600 + 1800


def test_several_wake_ups_extend_and_never_shorten() -> None:
    longer, shorter = (call("ScheduleWakeup", delaySeconds=n) for n in (3600, 60))
    assert silent_at(play((10.0, longer), (20.0, shorter))) == 10 + 3600 + 1800
    assert silent_at(play((10.0, shorter), (20.0, longer))) == 20 + 3600 + 1800


def test_after_the_wake_up_the_grace_stays_at_30_min() -> None:
    watch = play((10.0, call("ScheduleWakeup", delaySeconds=60)), (9000.0, TEXT), (9001.0, COST))
    assert silent_at(watch) == 9001.0 + 1800


@pytest.mark.parametrize(
    "update",
    [
        said("Async agent launched successfully."),
        said("Command running in background with ID: 7"),
        call("Bash", run_in_background=True),
        call("ScheduleWakeup", delaySeconds=3600),
    ],
)
def test_another_vendors_words_mean_nothing_special(update: Json) -> None:
    assert silent_at(play((10.0, update), profile=OTHER), OTHER) == 130.0


def test_a_watchdog_says_which_sign_was_last_and_when() -> None:
    watch = play((10.0, TEXT))._replace(quiet=True)
    _, [bark] = watchdogs.ticked(watch, 130.0, POLICY, CLAUDE)
    why = "silent for 2 min since the last sign of progress (agent_message_chunk)"
    assert bark == Silent(why)


def test_outside_a_turn_nothing_is_watched() -> None:
    over = watchdogs.ended(play((10.0, TEXT)))
    assert watchdogs.deadline(over, POLICY, CLAUDE) is None
    assert watchdogs.heard(over, TEXT, 20.0, CLAUDE) == (over, [])


NEWS = st.sampled_from(
    [
        TEXT,
        COST,
        NO_COST,
        COMMANDS,
        call("Bash", run_in_background=True),
        call("ScheduleWakeup", delaySeconds=600),
        said("Async agent launched successfully."),
    ]
)


@given(st.lists(st.tuples(st.floats(0.0, 500.0), NEWS | st.booleans()), max_size=20))
def test_in_any_order_of_signals_it_acts_at_its_deadline_and_never_before(news: list[Any]) -> None:
    watch, now = watchdogs.began(0.0), 0.0
    for gap, what in news:
        due = watchdogs.deadline(watch, POLICY, CLAUDE)
        now += gap if due is None else min(gap, max(0.0, due - now - TICK))
        still, barks = watchdogs.ticked(watch, now, POLICY, CLAUDE)
        assert (still, barks) == (watch, [])
        if isinstance(what, bool):
            watch = watchdogs.in_flight(watch, busy=what, now=now)
        else:
            watch, _ = watchdogs.heard(watch, what, now, CLAUDE)
    due = watchdogs.deadline(watch, POLICY, CLAUDE)
    if due is not None:
        assert due > now
        assert watchdogs.ticked(watch, due, POLICY, CLAUDE)[1] != []


@given(st.recursive(st.none() | st.text() | st.floats() | st.integers(), st.lists, max_leaves=5))
def test_no_update_breaks_a_watchdog(junk: Any) -> None:
    for kind in ("tool_call", "usage_update", "plan", "x"):
        for key in ("rawInput", "content", "rawOutput", "cost", "title"):
            watchdogs.heard(watchdogs.began(0.0), {"sessionUpdate": kind, key: junk}, 1.0, CLAUDE)
