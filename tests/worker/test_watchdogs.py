"""The watchdogs in a real worker over a real player, with small numbers."""

import json
import sys
from pathlib import Path

import pytest

from rookery.client.start import start_worker
from rookery.core.json.events import Event, Json, kind_of
from tests.worker.aviary import Aviary, Bird, is_idle, is_text

LAUNCHED = "Async agent launched successfully"
HASTY = str(Path(__file__).parent / "hasty.py")


def hatch(aviary: Aviary, **policy: float) -> Bird:
    bird = aviary.hatch()
    start_worker(bird.home, bird.id, argv=[sys.executable, HASTY, json.dumps(policy)])
    return bird


def is_quiet(event: Event) -> bool:
    return kind_of(event.update) == "_turn" and event.update["state"] == "quiet"


async def test_a_quiet_turn_is_reported_and_can_be_forced_to_end(aviary: Aviary) -> None:
    bird = hatch(aviary, force_end_after=0.3, cancel_grace=0.5)
    begun = await bird.prompt([{"deaf": True}, {"text": "now I fall silent"}, {"silence": True}])
    quiet = await bird.until(is_quiet, begun.seq)
    assert quiet.by == "watchdog:quiet"
    assert "nothing is in flight" in quiet.update["detail"]
    await bird.send("force_end")
    end = await bird.ended(begun)
    assert end.update["reason"] == "forced"
    # The agent never answers the old prompt: it is started anew before the next one.
    assert await bird.reason("hello") == "end_turn"


@pytest.mark.long
async def test_a_turn_in_a_long_tool_is_never_quiet(aviary: Aviary) -> None:
    """The numbers leave a busy machine the time to come to the tool."""
    bird = hatch(aviary, force_end_after=4, silent_after=8, cancel_grace=0.5)
    call = {"toolCallId": "t", "title": "slow", "status": "in_progress", "kind": "execute"}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    events = await bird.turn(
        [{"text": "x"}, {"tool": call}, {"wait": 12}, {"update": done}, {"text": "done"}]
    )
    assert events[-1].update["reason"] == "end_turn"
    assert not any(is_quiet(event) for event in events)


async def test_a_turn_whose_answer_is_lost_is_given_up_and_says_why(aviary: Aviary) -> None:
    bird = hatch(aviary, silent_after=4, force_end_after=0, cancel_grace=0.3)
    begun = await bird.prompt([{"deaf": True}, {"text": "all done"}, {"silence": True}])
    await bird.until(is_text, begun.seq)
    end = await bird.until(is_idle, begun.seq)
    assert end.update["reason"] == "orphaned"
    assert "last sign of progress (agent_message_chunk)" in end.update["detail"]
    assert await bird.reason("hello") == "end_turn"


def as_claude(aviary: Aviary, **policy: float) -> Bird:
    """A player under the name of an agent whose signs of other work count."""
    bird = aviary.hatch({"agent": {"name": "claude-agent-acp"}})
    start_worker(bird.home, bird.id, argv=[sys.executable, HASTY, json.dumps(policy)])
    return bird


SILENT = [{"wait": 12}, {"text": "done"}]


def signs() -> dict[str, Json]:
    launched = {"type": "content", "content": {"type": "text", "text": LAUNCHED}}
    done: Json = {"sessionUpdate": "tool_call", "toolCallId": "t", "status": "completed"}
    return {
        "an async agent": done | {"title": "Agent", "content": [launched]},
        "a background command": done | {"title": "Bash", "rawInput": {"run_in_background": True}},
        "a wake-up": done | {"title": "ScheduleWakeup", "rawInput": {"delaySeconds": 600}},
    }


@pytest.mark.long
@pytest.mark.parametrize("sign", list(signs()))
async def test_unseen_background_work_is_waited_for(aviary: Aviary, sign: str) -> None:
    """The same silence ends the turn of an agent that is not known to work like that."""
    numbers = {"silent_after": 5, "force_end_after": 0, "cancel_grace": 0.3}
    steps = [{"text": "begun"}, {"update": signs()[sign]}, *SILENT]
    bird = as_claude(aviary, off_protocol_grace=600, **numbers)
    assert (await bird.turn(steps))[-1].update["reason"] == "end_turn"
    generic = hatch(aviary, off_protocol_grace=600, **numbers)
    assert (await generic.turn(steps))[-1].update["reason"] == "orphaned"
