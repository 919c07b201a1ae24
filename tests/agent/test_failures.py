"""What goes wrong at the model's: said with a remedy, in a form to act on, retried in sight."""

from pathlib import Path

import pytest

from tests.acp.driving import Agent, Json
from tests.agent.driving import allow_all, calls, run, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERRORS = {
    "auth": ("auth", "rookery setup"),
    "context": ("context", "/condense"),
    "rate_limit": ("rate_limit", "later"),
    "quota": ("rate_limit", "quota"),
    "server": ("provider", "/model"),
    "overloaded": ("provider", "again"),
    "model": ("provider", "/model"),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_errors_have_a_kind_and_a_remedy(agent: Agent, tmp_path: Path, name: str) -> None:
    """A JSON-RPC error, never an answer as if nothing had been; the session stays usable."""
    kind, remedy = ERRORS[name]
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, [{"error": name}])
    assert answer["error"]["data"]["errorKind"] == kind
    assert remedy in answer["error"]["message"]
    assert "sk-scripted-key" not in str(agent.lines)
    assert "Traceback" not in str(agent.lines)
    assert stop_reason(await agent.turn(session, [{"text": "on again"}])) == "end_turn"
    assert words(agent.news(session)).endswith("on again")


async def test_a_rate_limit_says_when_it_ends(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    limit: Json = {"status": "rate_limit", "retry_after": 30}
    data = (await agent.turn(session, [{"error": limit}]))["error"]["data"]
    assert data == {"errorKind": "rate_limit", "retryAfter": 30.0}
    limit = {"status": "rate_limit", "reset": "6m0s"}
    data = (await agent.turn(session, [{"error": limit}]))["error"]["data"]
    assert data["errorKind"] == "rate_limit"
    assert "T" in data["resetsAt"]


async def test_no_reset_time_is_made_up(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    data = (await agent.turn(session, [{"error": "rate_limit"}]))["error"]["data"]
    assert data == {"errorKind": "rate_limit"}


async def test_retries_are_seen(agent: Agent, tmp_path: Path) -> None:
    """Which one, of how many, and when."""
    session = await agent.new(str(tmp_path))
    steps: list[Json] = [{"error": "overloaded", "times": 2}, {"text": "there"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    told = [u["_meta"]["rookery"]["retry"] for u in updates if "retry" in str(u.get("_meta"))]
    assert [(one["attempt"], one["of"]) for one in told] == [(2, 3), (3, 3)]
    assert "Trying again" in words(updates, "agent_thought_chunk")
    assert words(updates) == "there"


async def test_a_broken_stream_is_the_networks(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, [{"text": "one two three", "drop": 1, "times": 9}])
    assert answer["error"]["data"]["errorKind"] == "network"
    assert stop_reason(await agent.turn(session, [{"text": "on"}])) == "end_turn"


async def test_an_error_after_a_call(agent: Agent, tmp_path: Path) -> None:
    """What was done is done, and told; the next prompt goes on from it."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, [run("echo 1"), {"error": "auth"}])
    assert answer["error"]["data"]["errorKind"] == "auth"
    assert [call["status"] for call in calls(agent.news(session))] == ["completed"]
    assert stop_reason(await agent.turn(session, [{"text": "on"}])) == "end_turn"


async def test_calls_that_are_no_calls(agent: Agent, tmp_path: Path) -> None:
    """Unknown tools and arguments that are no JSON: told to the model, ended for the person."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    steps: list[Json] = [
        {"call": {"name": "nothing", "arguments": {}}},
        {"call": {"name": "terminal", "arguments": "{broken"}},
        {"text": "well"},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    assert words(updates) == "well"
    assert {call["status"] for call in calls(updates)} == {"failed"}
