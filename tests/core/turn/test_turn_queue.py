"""The queue while a turn runs: changed by hand, and steered into the turn."""

from typing import Any

import pytest

from rookery.core.json.events import Draft
from rookery.core.turn.messages import (
    AgentLost,
    Answered,
    Append,
    CancelWanted,
    Effect,
    EndAgent,
    ForceWanted,
    Input,
    QueueChanged,
    SendSteer,
    SteerAnswered,
    SteerWanted,
    Tick,
    Turn,
    WantAgent,
)
from tests.core.making import Json, text
from tests.core.turn.test_turn_table import HELLO, IDLE, RUNNING, WAITING, appended, go, queued

THREE = queued(RUNNING, "a", "b", "c")


def change(op: str, item: str = "", place: int = 0, prompt: Any = ()) -> QueueChanged:
    return QueueChanged("c9", "tui", op, item, list(prompt), place)


def names(turn: Turn) -> str:
    return "".join(item.id for item in turn.queue)


def said(effects: list[Effect]) -> Json:
    [effect] = effects
    assert isinstance(effect, Append)
    assert effect.draft.cause == "c9"
    return effect.draft.update


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (change("remove", "b"), "ac"),
        (change("move", "c", 0), "cab"),
        (change("move", "a", 99), "bca"),
        (change("send", "b"), "bac"),
    ],
)
def test_a_queue_is_changed_by_hand(given: QueueChanged, left: str) -> None:
    after, effects = go(THREE, given)
    assert (names(after), after.phase) == (left, "running")
    assert said(effects)["sessionUpdate"] == "_queue"


def test_a_queued_prompt_is_edited_in_its_place() -> None:
    after, effects = go(THREE, change("edit", "b", prompt=[text("new")]))
    assert (names(after), after.queue[1].prompt) == ("abc", [text("new")])
    assert said(effects)["prompt"] == [text("new")]


@pytest.mark.parametrize("op", ["edit", "move", "remove", "send"])
def test_changing_a_prompt_that_left_the_queue_is_refused(op: str) -> None:
    after, effects = go(THREE, change(op, "x"))
    assert after == THREE
    assert said(effects)["reason"] == "not_queued"


def test_a_held_queue_is_sent_with_one_key() -> None:
    after, effects = go(queued(IDLE, "a", "b"), change("send"))
    assert (after.phase, names(after)) == ("waiting", "")
    assert [update["sessionUpdate"] for update in appended(effects)] == [
        "_done",
        "_prompt",
        "_turn",
    ]
    assert effects[-1] == WantAgent()


def test_one_of_a_held_queue_is_sent_alone() -> None:
    after, effects = go(queued(IDLE, "a", "b"), change("send", "b"))
    assert (after.phase, names(after)) == ("waiting", "a")
    assert appended(effects)[1]["prompt"] == [text("b")]


# --- steering ---


STEER = SteerWanted("s", HELLO, "tui", able=True)


def test_a_prompt_is_offered_to_the_turn_and_waits_until_it_is_taken() -> None:
    turn, effects = go(RUNNING, STEER)
    assert names(turn) == "s"
    assert effects[-1] == SendSteer("s", HELLO)
    turn, effects = go(turn, SteerAnswered("s", taken=True))
    assert (names(turn), turn.n, turn.phase) == ("", 5, "running")
    [update] = appended(effects)
    assert (update["sessionUpdate"], update["turn"], update["steered"]) == ("_prompt", 5, True)
    assert update["queued"] == ["s"]


def test_a_steer_that_the_turn_does_not_take_is_queued() -> None:
    turn, _ = go(queued(RUNNING, "a"), STEER)
    turn, effects = go(turn, SteerAnswered("s", taken=False))
    assert names(turn) == "as"
    assert appended(effects) == [{"sessionUpdate": "_queue", "op": "wait", "id": "s"}]
    turn, effects = go(turn, Answered({"stopReason": "end_turn"}, None))
    assert appended(effects)[1]["queued"] == ["a", "s"]


def test_a_prompt_on_offer_is_not_sent_a_second_time_by_the_drain() -> None:
    turn, _ = go(RUNNING, STEER)
    turn, effects = go(turn, Answered({"stopReason": "end_turn"}, None))
    assert (turn.phase, names(turn)) == ("idle", "s")
    assert not any(isinstance(effect, WantAgent) for effect in effects)
    again, effects = go(turn, SteerAnswered("s", taken=False))
    assert (again.phase, names(again)) == ("waiting", "")
    assert appended(effects)[0]["queued"] == ["s"]


def test_an_agent_that_dies_loses_no_prompt_on_offer() -> None:
    turn, _ = go(RUNNING, STEER)
    turn, _ = go(turn, AgentLost("gone"))
    assert (turn.phase, names(turn), turn.queue[0].steering) == ("idle", "s", False)
    assert go(turn, SteerAnswered("s", taken=True)) == (turn, [])


@pytest.mark.parametrize(("turn", "able"), [(RUNNING, False), (WAITING, True)])
def test_a_steer_is_queued_where_nothing_can_be_steered(turn: Turn, able: bool) -> None:
    after, effects = go(turn, STEER._replace(able=able))
    assert names(after) == "s"
    assert not any(isinstance(effect, SendSteer) for effect in effects)


def test_a_steer_when_idle_is_an_ordinary_prompt() -> None:
    after, _ = go(IDLE, STEER)
    assert (after.phase, after.n) == ("waiting", 5)


def test_an_answer_about_another_prompt_changes_nothing() -> None:
    assert go(THREE, SteerAnswered("a", taken=True)) == (THREE, [])


@pytest.mark.parametrize("able", [True, False])
def test_send_now_steers_where_the_agent_can_take_it(able: bool) -> None:
    send = QueueChanged("c", "tui", "send", "b", [], 0, able)
    turn, effects = go(queued(RUNNING, "a", "b"), send)
    assert names(turn) == "ba"
    offers = [effect for effect in effects if isinstance(effect, SendSteer)]
    assert [offer.id for offer in offers] == (["b"] if able else [])
    if able:
        taken, effects = go(turn, SteerAnswered("b", taken=True))
        assert (names(taken), appended(effects)[0]["steered"]) == ("a", True)
        kept, _ = go(turn, SteerAnswered("b", taken=False))
        assert names(kept) == "ba"


CANCELLING = queued(RUNNING, "a", "b", "c")._replace(phase="cancelling", cancel_by=99.0)


@pytest.mark.parametrize(
    "ending",
    [
        Answered({"stopReason": "cancelled"}, None),
        Answered({"stopReason": "end_turn"}, None),
        Answered(None, {"code": -1, "message": "stopped"}),
        AgentLost("gone"),
        Tick(),
        CancelWanted("c8", "tui"),
        ForceWanted("c8", "tui"),
    ],
)
def test_send_now_during_a_cancel_waits_for_its_end(ending: Input) -> None:
    """However it ends; the rest stays held."""
    wished, effects = go(CANCELLING, change("send", "b"))
    assert (names(wished), said(effects)["op"]) == ("bac", "move")
    after, effects = go(wished, ending, now=100.0)
    assert (after.phase, names(after)) == ("waiting", "ac")
    assert [update.get("queued") for update in appended(effects)][-2:] == [["b"], None]
    wakes = [type(each) for each in effects if isinstance(each, EndAgent | WantAgent)]
    assert wakes[-1:] == ([] if isinstance(ending, ForceWanted) else [WantAgent])
    assert go(CANCELLING, ending, now=100.0)[0].held


def test_send_all_during_a_cancel_sends_the_queue_afterwards() -> None:
    wished, _ = go(CANCELLING, change("send"))
    after, _ = go(wished, Answered({"stopReason": "cancelled"}, None))
    assert (after.phase, names(after)) == ("waiting", "")


def test_a_budgets_pause_sends_nothing() -> None:
    asking = CANCELLING._replace(ask=Draft({"sessionUpdate": "_ask"}), because="a budget")
    after, _ = go(go(asking, change("send", "b"))[0], Answered({"stopReason": "cancelled"}, None))
    assert (after.phase, names(after), after.held) == ("idle", "bac", True)


def test_a_steer_that_a_cancelled_turn_did_not_take_is_sent() -> None:
    offered, _ = go(RUNNING, SteerWanted("a", HELLO, "tui", able=True))
    cancelling, _ = go(offered, CancelWanted("c8", "tui"))
    wished, _ = go(cancelling, change("send", "a"))
    ended, _ = go(wished, Answered({"stopReason": "cancelled"}, None))
    assert (ended.phase, names(ended)) == ("idle", "a")
    after, _ = go(ended, SteerAnswered("a", taken=False))
    assert (after.phase, names(after)) == ("waiting", "")
