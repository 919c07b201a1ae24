"""The clock of an ask: it runs only while somebody is there."""

from typing import Any

from rookery.core.ask import from_header
from rookery.core.ask_timeout import Clock, deadline, expired, synced, timed_out
from tests.core.making import Json


def at(clock: Clock, now: float, *names: str, attached: bool, limit: float = 300.0) -> Clock:
    return synced(clock, names, now, limit, attached=attached)


def test_without_a_limit_an_ask_waits_for_ever() -> None:
    clock = at(Clock(), 0.0, "a", attached=True, limit=0)
    assert (deadline(clock), expired(clock, 1e9)) == (None, [])


def test_an_ask_times_out_exactly_at_its_limit() -> None:
    clock = at(Clock(), 100.0, "a", attached=True)
    clock = at(clock, 250.0, "a", "b", attached=True)
    assert deadline(clock) == 400.0
    assert (expired(clock, 399.999), expired(clock, 400.0)) == ([], ["a"])
    assert expired(clock, 550.0) == ["a", "b"]


def test_the_clock_stops_while_nobody_is_attached() -> None:
    clock = at(Clock(), 0.0, "a", attached=False)
    assert (deadline(clock), expired(clock, 1e9)) == (None, [])
    clock = at(clock, 1000.0, "a", attached=True)
    assert deadline(clock) == 1300.0
    clock = at(clock, 1200.0, "a", attached=False)
    assert (deadline(clock), expired(clock, 1e9)) == (None, [])
    clock = at(clock, 5000.0, "a", attached=True)
    assert (expired(clock, 5099.999), expired(clock, 5100.0)) == ([], ["a"])


def test_a_closed_ask_has_no_clock() -> None:
    clock = at(Clock(), 0.0, "a", attached=True)
    assert deadline(at(clock, 10.0, attached=True)) is None


def ask(*kinds: str) -> Json:
    options = [{"optionId": kind[:8], "name": f"N {kind}", "kind": kind} for kind in kinds]
    call = {"toolCallId": "t", "title": "Write a"}
    return {"id": "x", "kind": "permission", "toolCall": call, "options": options}


def outcome(given: Json) -> tuple[Any, Json, str]:
    answer, notice = timed_out(from_header(given["id"], given), 300.0)
    assert answer.draft.by == notice.by == "rule:ask_timeout"
    return answer.reply, answer.draft.update, notice.update["text"]


def test_a_timeout_gives_the_agents_own_rejection() -> None:
    reply, update, text = outcome(ask("allow_once", "reject_always", "reject_once"))
    assert reply == {"outcome": {"outcome": "selected", "optionId": "reject_o"}}
    assert (update["state"], update["outcome"]) == ("closed", reply["outcome"])
    assert text == "No answer within 5 min: Write a was answered with 'N reject_once'."


def test_a_timeout_without_a_reject_option_cancels() -> None:
    reply, _, text = outcome(ask("allow_once"))
    assert reply == {"outcome": {"outcome": "cancelled"}}
    assert text.endswith("Write a was cancelled.")
    reply, update, _ = outcome({"id": "q", "kind": "question", "message": "Which?"})
    assert (reply, update["outcome"]) == ({"action": "cancel"}, {"outcome": "cancelled"})
