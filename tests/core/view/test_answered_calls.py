"""What a call says after its ask was answered."""

import pytest

from rookery.core.blocks import captions
from rookery.core.json.events import Event, Json
from rookery.core.view.reduce import fold
from rookery.render import call
from tests.tui.gallery import ASKS, SESSION, prompt, running, tool

OPTIONS = ASKS[2]["options"]


def idle(reason: str = "end_turn") -> Json:
    return {"sessionUpdate": "_turn", "state": "idle", "reason": reason}


def told(option: str, status: str, *more: Json) -> Json:
    ended: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "d1", "status": status}
    outcome = {"outcome": "selected", "optionId": option}
    closed: Json = {"sessionUpdate": "_ask", "id": "q1", "state": "closed", "outcome": outcome}
    asked = {**ASKS[2], "danger": ""}
    failed: Json = {"rawOutput": {"error": "User rejected the tool call", "code": 7}}
    steps = [
        (1_000, prompt("Clean up.")),
        (1_000, running()),
        (2_000, tool("d1", "rm -rf build", "execute", "pending")),
        (2_000, asked),
        (62_000, closed),
        *([(64_000, ended | (failed if status == "failed" else {}))] if status else []),
        *((65_000, each) for each in more),
    ]
    events = [Event(1, 0, None, None, SESSION)]
    events += [Event(seq, at, None, None, each) for seq, (at, each) in enumerate(steps, 2)]
    blocks = fold(None, events).blocks.values()
    return next(block for block in blocks if block["role"] == "tool")


def test_a_calls_duration_leaves_out_the_wait_for_an_answer() -> None:
    assert told("once", "completed")["seconds"] == 2.0


def test_a_rejected_call_says_so() -> None:
    assert call.extras(told("no", "failed"), [], None) == [("rejected", False)]
    assert ("failed", True) in call.extras(told("once", "failed"), [], None)


@pytest.mark.parametrize("status", ["failed", "completed", "rejected", "denied", ""])
def test_a_rejected_call_has_one_word_however_its_agent_ends_it(status: str) -> None:
    """Agents call it failed or completed, or say nothing more of it."""
    block = told("no", status, idle())
    assert captions.status_of(block) == "rejected"
    assert call.extras(block, [], None) == [("rejected", False)]


def test_a_call_that_is_asked_about_again_and_allowed_is_not_rejected() -> None:
    again = {**ASKS[2], "id": "q2", "danger": "", "again": True}
    outcome = {"outcome": "selected", "optionId": "once"}
    closed: Json = {"sessionUpdate": "_ask", "id": "q2", "state": "closed", "outcome": outcome}
    done: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "d1", "status": "completed"}
    assert captions.status_of(told("no", "", again, closed, done)) == "done"


@pytest.mark.parametrize("status", ["failed", "cancelled", "canceled", ""])
def test_a_call_that_a_cancel_cut_off_has_one_word(status: str) -> None:
    cancel: Json = {"sessionUpdate": "_done", "command": "cancel"}
    ended: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "d1", "status": status}
    block = told("once", "", cancel, *([ended] if status else []), idle("cancelled"))
    assert captions.status_of(block) == "interrupted"


def test_a_failure_before_the_cancel_and_one_with_a_code_stay_failures() -> None:
    cancel: Json = {"sessionUpdate": "_done", "command": "cancel"}
    assert captions.status_of(told("once", "failed", cancel, idle("cancelled"))) == "failed"
    for code, word in ((3, "failed"), (143, "interrupted")):
        ended: Json = {"sessionUpdate": "tool_call_update", "toolCallId": "d1", "status": "failed"}
        ended |= {"rawOutput": {"metadata": {"exit": code}}}
        assert captions.status_of(told("once", "", cancel, ended, idle("cancelled"))) == word
