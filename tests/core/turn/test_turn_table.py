"""The turn machine, arrow by arrow."""

from typing import Any

import pytest

from rookery.core.json.events import Draft
from rookery.core.limits import Policy
from rookery.core.stop_reasons import STOP_REASONS
from rookery.core.turn.machine import deadline, step
from rookery.core.turn.messages import (
    AgentLost,
    AgentReady,
    Answered,
    Append,
    CancelWanted,
    CloseAsks,
    Effect,
    EndAgent,
    Prompted,
    SendCancel,
    SendPrompt,
    Tick,
    Turn,
    WantAgent,
)
from rookery.core.turn.queue import Queued
from tests.core.making import Json, text

POLICY = Policy(cancel_grace=10, queue_most=3)
HELLO = [text("hello")]

IDLE = Turn(n=4)
WAITING = Turn("waiting", 5, tuple(HELLO))
RUNNING = WAITING._replace(phase="running")
CANCELLING = RUNNING._replace(phase="cancelling", cancel_by=110.0)


def queued(turn: Turn, *words: str) -> Turn:
    return turn._replace(queue=tuple(Queued(each, [text(each)]) for each in words))


def go(turn: Turn, given: Any, now: float = 100.0) -> tuple[Turn, list[Effect]]:
    return step(turn, given, now, POLICY)


def appended(effects: list[Effect]) -> list[Json]:
    return [effect.draft.update for effect in effects if isinstance(effect, Append)]


def end_of(effects: list[Effect]) -> Json:
    [end] = [update for update in appended(effects) if update.get("state") == "idle"]
    return end


def test_a_prompt_is_admitted_then_the_agent_is_wanted() -> None:
    turn, effects = go(IDLE, Prompted("c1", HELLO, "tui"))
    assert turn == WAITING
    admitted = {"sessionUpdate": "_prompt", "turn": 5, "prompt": HELLO}
    assert effects == [
        Append(Draft(admitted, "c1", "tui"), full=True),
        Append(Draft({"sessionUpdate": "_turn", "state": "running", "turn": 5})),
        WantAgent(),
    ]


def test_a_prompt_is_sent_once_the_agent_is_ready() -> None:
    assert go(WAITING, AgentReady()) == (RUNNING, [SendPrompt(HELLO)])


@pytest.mark.parametrize("turn", [IDLE, RUNNING, CANCELLING])
def test_a_ready_agent_that_nobody_waits_for_changes_nothing(turn: Turn) -> None:
    assert go(turn, AgentReady()) == (turn, [])


@pytest.mark.parametrize("turn", [IDLE, WAITING])
def test_an_answer_that_nobody_waits_for_changes_nothing(turn: Turn) -> None:
    assert go(turn, Answered({"stopReason": "end_turn"}, None)) == (turn, [])


@pytest.mark.parametrize("turn", [RUNNING, CANCELLING])
@pytest.mark.parametrize("reason", sorted(STOP_REASONS))
def test_each_stop_reason_ends_the_turn_with_that_reason(turn: Turn, reason: str) -> None:
    after, effects = go(turn, Answered({"stopReason": reason}, None))
    assert after == IDLE._replace(n=5)
    end = {"sessionUpdate": "_turn", "state": "idle", "turn": 5, "reason": reason}
    assert effects == [CloseAsks(reason), Append(Draft(end), full=True)]


@pytest.mark.parametrize("result", [{"stopReason": "bored"}, {"stopReason": 7}, {}, None, [], "x"])
def test_a_stop_reason_that_nobody_knows_ends_the_turn_and_is_kept(result: Any) -> None:
    _, effects = go(RUNNING, Answered(result, None))
    said = result.get("stopReason") if isinstance(result, dict) else ""
    assert end_of(effects)["reason"] == "end_turn"
    assert end_of(effects)["stopReason"] == (said if isinstance(said, str) else "")


def test_what_an_answer_says_beside_its_reason_is_kept() -> None:
    result = {"stopReason": "end_turn", "usage": {"totalTokens": 7}, "_meta": {"a": 1}}
    _, effects = go(RUNNING, Answered(result, None))
    assert (end_of(effects)["usage"], end_of(effects)["_meta"]) == ({"totalTokens": 7}, {"a": 1})


def test_an_error_fails_the_turn_and_is_kept_without_a_respawn() -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "x"}}
    after, effects = go(RUNNING, Answered(None, error))
    assert (after.phase, end_of(effects)["reason"]) == ("idle", "failed")
    assert end_of(effects)["error"] == error
    assert not any(isinstance(effect, EndAgent | WantAgent) for effect in effects)


def test_an_error_that_answers_a_cancel_is_its_end() -> None:
    _, effects = go(CANCELLING, Answered(None, {"code": -32603, "message": "aborted"}))
    assert end_of(effects)["reason"] == "cancelled"


LIMITED = {
    "in its data": {"code": 1, "message": "m", "data": {"errorKind": "rate_limit"}},
    "in its message": {"code": 1, "message": 'said {"errorKind": "rate_limit"}'},
}


@pytest.mark.parametrize("error", LIMITED.values(), ids=LIMITED.keys())
def test_a_rate_limit_is_a_clean_end(error: Json) -> None:
    after, effects = go(RUNNING, Answered(None, error))
    kinds = [update["sessionUpdate"] for update in appended(effects)]
    assert kinds == ["_rate_limit", "_turn"]
    assert (after.phase, end_of(effects)["reason"]) == ("idle", "rate_limited")
    limit = {"sessionUpdate": "_rate_limit", "message": error["message"], "prompt": HELLO}
    assert appended(effects)[0] == limit
    assert not any(isinstance(effect, EndAgent) for effect in effects)


def test_a_rate_limit_keeps_the_reset_time_that_the_agent_gave() -> None:
    data = {"errorKind": "rate_limit", "resetsAt": "noon", "retryAfter": 60, "other": 1}
    _, effects = go(RUNNING, Answered(None, {"code": 1, "message": "m", "data": data}))
    limit = {"sessionUpdate": "_rate_limit", "message": "m", "resetsAt": "noon", "retryAfter": 60}
    assert appended(effects)[0] == {**limit, "prompt": HELLO}


@pytest.mark.parametrize("turn", [WAITING, RUNNING, CANCELLING])
def test_a_lost_agent_ends_the_turn_in_every_phase(turn: Turn) -> None:
    after, effects = go(turn, AgentLost("status 1: oh"))
    assert after == IDLE._replace(n=5)
    assert (end_of(effects)["reason"], end_of(effects)["detail"]) == (
        "agent_exited",
        "status 1: oh",
    )
    assert deadline(after) is None


def test_a_lost_agent_that_nobody_waits_for_changes_nothing() -> None:
    assert go(IDLE, AgentLost("x")) == (IDLE, [])


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (AgentLost("x", reason="interrupted"), "interrupted"),
        (AgentLost("x", {"code": -32000, "message": "log in"}), "failed"),
        (AgentLost("x", LIMITED["in its data"]), "rate_limited"),
    ],
)
def test_a_lost_agent_may_say_why(lost: AgentLost, reason: str) -> None:
    _, effects = go(WAITING, lost)
    assert end_of(effects)["reason"] == reason


# --- cancelling ---


CANCEL = CancelWanted("c2", "web")
DONE = Append(Draft({"sessionUpdate": "_done", "command": "cancel"}, "c2", "web"))


def test_a_cancel_when_idle_leaves_only_its_outcome() -> None:
    assert go(IDLE, CANCEL) == (IDLE, [DONE])


def test_a_cancel_before_the_agent_is_there_ends_the_turn() -> None:
    after, effects = go(WAITING, CANCEL)
    assert (after.phase, effects[0], end_of(effects)["reason"]) == ("idle", DONE, "cancelled")
    assert not any(isinstance(effect, SendCancel | SendPrompt) for effect in effects)


def test_a_cancel_is_sent_and_the_agent_has_its_grace() -> None:
    assert go(RUNNING, CANCEL) == (CANCELLING, [DONE, SendCancel()])
    assert deadline(CANCELLING) == 110.0


@pytest.mark.parametrize("turn", [IDLE, WAITING, RUNNING])
def test_only_a_cancel_has_a_deadline(turn: Turn) -> None:
    assert deadline(turn) is None
    assert go(turn, Tick(), 1e9) == (turn, [])


def test_one_tick_before_the_deadline_nothing_happens() -> None:
    assert go(CANCELLING, Tick(), 109.999) == (CANCELLING, [])


@pytest.mark.parametrize("now", [110.0, 110.001, 1e9])
def test_at_the_deadline_the_agent_is_ended(now: float) -> None:
    after, effects = go(CANCELLING, Tick(), now)
    assert after == IDLE._replace(n=5)
    assert end_of(effects)["reason"] == "unresponsive"
    assert end_of(effects)["detail"] == "not ended 10 s after the cancel"
    assert effects[-1] == EndAgent("unresponsive")


def test_a_second_cancel_escalates_at_once() -> None:
    after, effects = go(CANCELLING, CANCEL, 100.0)
    assert (effects[0], effects[-1]) == (DONE, EndAgent("unresponsive"))
    assert (after.phase, end_of(effects)["detail"]) == ("idle", "a second cancel")


# --- the queue ---


@pytest.mark.parametrize("turn", [WAITING, RUNNING, CANCELLING])
def test_a_prompt_while_busy_is_queued(turn: Turn) -> None:
    after, effects = go(turn, Prompted("c9", HELLO, "tui"))
    assert after == turn._replace(queue=(Queued("c9", HELLO),))
    added = {"sessionUpdate": "_queue", "op": "add", "id": "c9", "prompt": HELLO}
    assert effects == [Append(Draft(added, "c9", "tui"), full=True)]


def test_a_full_queue_refuses() -> None:
    full = queued(RUNNING, "a", "b", "c")
    after, effects = go(full, Prompted("c9", HELLO, None))
    assert after == full
    [refused] = appended(effects)
    assert (refused["sessionUpdate"], refused["reason"]) == ("_rejected", "queue_full")
    assert effects[0].draft.cause == "c9"


def test_the_queue_drains_combined_after_a_normal_end() -> None:
    after, effects = go(queued(RUNNING, "a", "b"), Answered({"stopReason": "end_turn"}, None))
    assert (after.phase, after.n, after.queue) == ("waiting", 6, ())
    prompted = appended(effects)[1]
    assert prompted["prompt"] == [text("a"), text("\n\n"), text("b")]
    assert prompted["queued"] == ["a", "b"]
    assert effects[-1] == WantAgent()


def test_the_queue_drains_one_by_one_where_wanted() -> None:
    policy = POLICY._replace(queue_drain="serial")
    turn = queued(RUNNING, "a", "b")
    after, effects = step(turn, Answered({"stopReason": "end_turn"}, None), 0.0, policy)
    assert [item.id for item in after.queue] == ["b"]
    assert appended(effects)[1]["prompt"] == [text("a")]


@pytest.mark.parametrize(
    ("waiting", "sent"),
    [
        (["/clear", "a"], ["/clear"]),
        (["a", "b", "/clear", "c"], ["a", "b"]),
        (["/a", "/b"], ["/a"]),
    ],
)
def test_a_slash_command_goes_alone(waiting: list[str], sent: list[str]) -> None:
    after, effects = go(queued(RUNNING, *waiting), Answered({"stopReason": "end_turn"}, None))
    assert appended(effects)[1]["queued"] == sent
    assert [item.id for item in after.queue] == waiting[len(sent) :]


@pytest.mark.parametrize(
    "given",
    [
        *(Answered({"stopReason": reason}, None) for reason in sorted(STOP_REASONS - {"end_turn"})),
        Answered(None, {"code": 1, "message": "m"}),
        Answered(None, LIMITED["in its data"]),
        AgentLost("gone"),
    ],
)
def test_after_any_other_end_the_queue_is_held(given: Any) -> None:
    after, effects = go(queued(RUNNING, "a"), given)
    assert (after.phase, [item.id for item in after.queue]) == ("idle", ["a"])
    assert not any(isinstance(effect, WantAgent) for effect in effects)
