"""Nothing is lost where sub-agents are at work, and ask: whoever is killed, at any time.

The player goes by the name of an agent whose profile knows sub-agents.
`KILLS_SEED=7 make test-all ARGS=tests/e2e/test_kills_below.py`
"""

import sys
from typing import Any

import pytest

from rookery.core.vendors.profiles import profile_of
from tests.e2e.ordeal import SEED, SLEEP, undergo
from tests.worker.aviary import Aviary, Steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

type Json = dict[str, Any]

AGENT = "claude"
FORM: Json = {"type": "object", "properties": {"name": {"type": "string"}}}


def above(**fields: Any) -> Json:
    """The call in which a sub-agent works; one of each turn."""
    return {"tool": {"toolCallId": "task-$turn", "title": "Task", **fields}}


def below(name: str, **fields: Any) -> Json:
    """A call of the sub-agent's."""
    meta = {"claudeCode": {"parentToolUseId": "task-$turn"}}
    return {"toolCallId": f"{name}-$turn", "title": name, "_meta": meta, **fields}


def asks(name: str, *then: Json) -> Json:
    call = below(name, kind="execute", rawInput={"command": f"make {name}"})
    return {"ask": {"title": name, "toolCall": call}, "allowed": list(then)}


def works(name: str) -> list[Json]:
    started = below(name, kind="read", status="in_progress")
    return [
        {"tool": started},
        {"wait": 0.05},
        {"tool": below(name, status="completed")},
    ]


DONE = above(status="completed")

SCENES: list[Steps] = [
    [above(), *works("look"), *works("find"), DONE, {"text": "It found it."}],
    [above(), *works("look"), asks("build", {"wait": 0.1}), DONE, {"text": "Built."}],
    [above(), asks("one"), asks("two"), *works("look"), DONE],
    [above(), {"spawn": ["sleep", SLEEP], "detach": True}, *works("run"), DONE],
    [above(), {"repeat": 8, "steps": works("dig")}, {"text": "dug"}],
    [above(), {"question": "Who?", "schema": FORM, "accepted": [{"text": "$answer"}]}, DONE],
    [asks("alone", {"text": "a call that nobody has announced"})],
    [above(), {"wait": 0.2}, {"error": "of the agent's own"}],
    [above(), *works("look"), {"late": [{"tool": below("late", status="completed")}, DONE]}],
]


def test_the_agent_of_the_scenes_has_sub_agents() -> None:
    assert profile_of(AGENT, []).parent == ("claudeCode", "parentToolUseId")


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("slice_", range(4))
async def test_kills_during_sub_agents_and_asks_lose_nothing(aviary: Aviary, slice_: int) -> None:
    await undergo(aviary, 90, SEED + 10 + slice_, scenes=SCENES, agent=AGENT)
