"""What a call says after its ask was answered (issue 13, line 3)."""

from rookery.core.json.events import Event, Json
from rookery.core.view.reduce import fold
from rookery.render import call
from tests.tui.gallery import ASKS, SESSION, prompt, running, tool

OPTIONS = ASKS[2]["options"]


def told(option: str, status: str) -> Json:
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
        (64_000, ended | (failed if status == "failed" else {})),
    ]
    events = [Event(1, 0, None, None, SESSION)]
    events += [Event(seq, at, None, None, each) for seq, (at, each) in enumerate(steps, 2)]
    blocks = fold(None, events).blocks.values()
    return next(block for block in blocks if block["role"] == "tool")


def test_I13_3_the_time_of_a_call_leaves_out_the_wait_for_an_answer() -> None:
    assert told("once", "completed")["seconds"] == 2.0


def test_I13_3_a_rejected_call_says_so() -> None:
    assert call.extras(told("no", "failed"), [], None) == [("rejected", False)]
    assert ("failed", True) in call.extras(told("once", "failed"), [], None)
