"""Turns that are ended over the agent's head: by force, and by a watchdog."""

import pytest

from rookery.core.turn.machine import deadline
from rookery.core.turn.messages import (
    AgentLost,
    AgentReady,
    Answered,
    EndAgent,
    ForceWanted,
    Orphaned,
    Prompted,
    SendCancel,
    SendPrompt,
    Tick,
    Turn,
    WantAgent,
)
from tests.core.turn.test_turn_table import (
    CANCELLING,
    HELLO,
    IDLE,
    RUNNING,
    WAITING,
    appended,
    end_of,
    go,
    queued,
)

FORCE = ForceWanted("c9", "tui")
END = {"stopReason": "end_turn"}


@pytest.mark.parametrize("turn", [WAITING, RUNNING, CANCELLING])
def test_force_always_ends_the_turn_with_a_best_effort_cancel(turn: Turn) -> None:
    after, effects = go(turn, FORCE)
    assert (after.phase, end_of(effects)["reason"]) == ("idle", "forced")
    assert appended(effects)[0] == {"sessionUpdate": "_done", "command": "force_end"}
    assert SendCancel() in effects


def test_force_with_nothing_running_succeeds() -> None:
    after, [effect] = go(IDLE, FORCE)
    assert after == IDLE
    assert appended([effect]) == [{"sessionUpdate": "_done", "command": "force_end"}]


def test_the_next_prompt_waits_for_the_answer_that_the_agent_owes() -> None:
    forced, _ = go(RUNNING, FORCE)
    waiting, effects = go(forced, Prompted("c1", HELLO, None))
    assert not any(isinstance(effect, WantAgent | SendPrompt) for effect in effects)
    assert go(waiting, AgentReady()) == (waiting, [])
    paid, effects = go(waiting, Answered(END, None, turn=5))
    assert (paid.phase, effects) == ("waiting", [WantAgent()])
    assert go(paid, AgentReady())[1] == [SendPrompt(HELLO)]


def test_an_agent_that_never_answers_is_ended_and_restarted() -> None:
    forced, _ = go(RUNNING, FORCE)
    waiting, _ = go(forced, Prompted("c1", HELLO, None))
    assert deadline(waiting) == 110.0
    assert go(waiting, Tick(), 109.999) == (waiting, [])
    after, effects = go(waiting, Tick(), 110.0)
    assert effects == [EndAgent("unresponsive"), WantAgent()]
    assert after.owes is None


def test_a_late_answer_ends_no_later_turn() -> None:
    late = Answered(END, None, turn=4)
    assert go(RUNNING, late) == (RUNNING, [])


def test_a_lost_agent_owes_no_answer() -> None:
    forced, _ = go(RUNNING, FORCE)
    assert go(forced, AgentLost("gone"))[0].owes is None


def test_an_orphaned_turn_is_cancelled_first() -> None:
    after, effects = go(RUNNING, Orphaned("silent for 120 s"))
    assert (after.phase, effects) == ("cancelling", [SendCancel(kept=False)])


@pytest.mark.parametrize(
    "answer", [Answered(END, None), Answered({"stopReason": "cancelled"}, None), Answered(None, {})]
)
def test_an_orphaned_turn_ends_as_orphaned_and_says_why(
    answer: Answered,
) -> None:
    cancelling, _ = go(queued(RUNNING, "a"), Orphaned("silent for 120 s"))
    after, effects = go(cancelling, answer)
    end = end_of(effects)
    assert (end["reason"], end["detail"]) == ("orphaned", "silent for 120 s")
    assert (after.phase, after.held) == ("idle", True)


def test_an_orphaned_turns_silent_agent_is_ended_after_10_s() -> None:
    cancelling, _ = go(RUNNING, Orphaned("silent for 120 s"))
    assert go(cancelling, Tick(), 109.999) == (cancelling, [])
    _, effects = go(cancelling, Tick(), 110.0)
    assert end_of(effects)["reason"] == "orphaned"
    assert EndAgent("orphaned") in effects


@pytest.mark.parametrize("turn", [IDLE, WAITING, CANCELLING])
def test_a_watchdog_that_comes_too_late_does_nothing(turn: Turn) -> None:
    assert go(turn, Orphaned("x")) == (turn, [])


def test_a_queue_is_held_after_a_cancel_that_was_answered_with_end_turn() -> None:
    """As opencode does: what the person wished counts, not the agent's word for it."""
    after, effects = go(queued(CANCELLING, "a"), Answered(END, None))
    assert (after.phase, after.held) == ("idle", True)
    assert end_of(effects)["reason"] == "end_turn"
