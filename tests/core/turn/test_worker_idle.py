"""When a worker ends by itself."""

import pytest

from rookery.core.fold import advance
from rookery.core.header import EMPTY
from rookery.core.json.events import Event
from rookery.core.limits import Policy
from rookery.core.turn.worker_idle import Rest, deadline, is_done_with, is_idle, is_put_away
from rookery.core.view.fleet import is_hidden

POLICY = Policy(idle_stop_secs=60, abandoned_after=1000)
AWAKE = Policy(idle_stop_secs=0)
DAYS = 48 * 3600.0


def test_a_worker_idle_for_long_stops() -> None:
    assert deadline(Rest(10.0, None), POLICY, idle=True) == (70.0, "idle")


def test_no_idle_stop_in_mid_turn() -> None:
    assert deadline(Rest(10.0, None), POLICY, idle=False) is None


def test_idle_stop_is_half_an_hour_unless_it_is_set() -> None:
    assert deadline(Rest(10.0, None), Policy(), idle=True) == (1810.0, "idle")
    assert deadline(Rest(10.0, None), AWAKE, idle=True) is None


@pytest.mark.parametrize(
    "changes",
    [{"state": "running"}, {"queue": [{"id": "a", "prompt": []}]}, {"asks": {"a": {}}}],
)
def test_a_turn_a_queue_or_an_ask_prevents_the_idle_stop(changes: dict[str, object]) -> None:
    assert is_idle(EMPTY)
    assert not is_idle(EMPTY.with_(**changes))


def test_once_it_was_read_and_left_it_stops_after_ten_minutes() -> None:
    left = Rest(10.0, 20.0)
    assert deadline(left, Policy(), idle=True, done=True) == (620.0, "idle")
    assert deadline(left, Policy(), idle=True) == (1810.0, "idle"), "unread"
    attached = Rest(10.0, None)
    assert deadline(attached, Policy(), idle=True, done=True) == (1810.0, "idle")
    off = Policy(read_stop_secs=0)
    assert deadline(left, off, idle=True, done=True) == (1810.0, "idle")


@pytest.mark.parametrize(
    "changes",
    [{"state": "running"}, {"asks": {"a": {"decide": 1}}}, {"news": 6}],
)
def test_what_runs_asks_or_is_unread_is_not_done_with(changes: dict[str, object]) -> None:
    assert is_done_with(EMPTY.with_(news=5), 5)
    assert not is_done_with(EMPTY.with_(**{"news": 5, **changes}), 5)


@pytest.mark.parametrize("idle", [True, False])
def test_with_no_client_and_no_event_for_48_h_it_is_abandoned(idle: bool) -> None:
    assert deadline(Rest(10.0, 20.0), AWAKE, idle=idle) == (20.0 + DAYS, "abandoned")
    assert deadline(Rest(30.0, 20.0), AWAKE, idle=idle) == (30.0 + DAYS, "abandoned")


def test_a_session_with_a_client_is_not_abandoned() -> None:
    assert deadline(Rest(10.0, None), AWAKE, idle=True) is None


def test_what_is_due_first_counts() -> None:
    assert deadline(Rest(10.0, 10.0), POLICY, idle=True) == (70.0, "idle")


def test_an_archived_session_stops_once_no_turn_runs() -> None:
    archived = EMPTY.with_(archived=True)
    assert not is_put_away(EMPTY, 0)
    assert is_put_away(archived, 0)
    assert is_put_away(archived.with_(queue=[{"id": "a", "prompt": []}]), 0)
    assert not is_put_away(archived.with_(state="running"), 0)
    assert not is_put_away(archived.with_(asks={"a": {}}), 0)


def test_a_snooze_ends_exactly_at_its_time() -> None:
    snoozed = EMPTY.with_(snoozed=1000)
    assert is_put_away(snoozed, 999)
    assert not is_put_away(snoozed, 1000)
    assert not is_put_away(snoozed.with_(state="running"), 999)
    assert (is_hidden(snoozed.raw, 999), is_hidden(snoozed.raw, 1000)) == (True, False)
    assert is_hidden(snoozed.with_(archived=True).raw, 1000)
    assert not is_hidden({"archived": False}, 0)  # the head of an earlier build


def test_a_prompt_ends_a_snooze() -> None:
    update = {"sessionUpdate": "_prompt", "prompt": [{"type": "text", "text": "x"}]}
    changes = advance(EMPTY.with_(snoozed=1000), Event(1, 0, None, None, update))
    assert changes["snoozed"] == 0
