"""Models that no list knows: what they cost, and whether they see."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import write_settings
from tests.agent.driving import words

pytestmark = pytest.mark.asyncio(loop_scope="session")

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
USAGE = {"input": 1000, "output": 100, "cached": 800}


@contextmanager
def profile(home: Path, model: ScriptedModel, name: str, **more: object) -> Iterator[None]:
    """A model of that name is the default, with no more about it than is said here."""
    known = {"api_key": "sk-scripted-key", "base_url": model.url, "num_retries": 0}
    write_settings(home, model, profiles={"first": {"model": name, **known, **more}})
    try:
        yield
    finally:
        write_settings(home, model)


async def cost(agent: Agent, cwd: Path, *usages: Json) -> float | None:
    """What the last answer of a turn says that the session cost."""
    session = await agent.new(str(cwd))
    for usage in usages:
        await agent.turn(session, [{"text": "ok", "usage": usage}])
    told = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"][-1]
    return told["cost"]["amount"] if told.get("cost") else None


@pytest.mark.parametrize("streaming", [True, False])
async def test_the_providers_own_cost_is_used(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path, streaming: bool
) -> None:
    with profile(agent_home, model, "openai/nobody-knows-it"):
        session = await agent.new(str(tmp_path))
        option = {"sessionId": session, "configId": "streaming"}
        value = "on" if streaming else "off"
        await agent.call("session/set_config_option", **option, value=value)
        for _ in range(2):
            await agent.turn(session, [{"text": "ok", "usage": USAGE | {"cost": 0.25}}])
    told = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"][-1]
    assert told["cost"]["amount"] == pytest.approx(0.5)


async def test_a_price_in_the_models_settings_is_used(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """For a million tokens, those from a cache at their own; the provider's word goes before."""
    price = {"input": 3, "output": 15, "cached": 0.5}
    with profile(agent_home, model, "openai/nobody-knows-it", price=price):
        by_price = await cost(agent, tmp_path, USAGE)
        said = await cost(agent, tmp_path, USAGE | {"cost": 0.25})
    assert by_price == pytest.approx((200 * 3 + 800 * 0.5 + 100 * 15) / 1_000_000)
    assert said == pytest.approx(0.25)
    with profile(agent_home, model, "openai/nobody-knows-it", price={"input": 2, "output": 10}):
        assert await cost(agent, tmp_path, USAGE) == pytest.approx(0.003)
    with profile(agent_home, model, "openai/nobody-knows-it"):
        assert await cost(agent, tmp_path, USAGE) is None


async def test_an_invalid_price_is_refused(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    for wrong in (3, {"input": 3}, {"input": "3", "output": 1}, {"input": 1, "output": 1, "x": 1}):
        with profile(agent_home, model, "openai/x", price=wrong):
            asked = agent.ask("session/new", cwd=str(tmp_path), mcpServers=[])
            refused = (await agent.answer(asked))["error"]["message"]
        assert "profiles.first.price" in refused
        assert "per million tokens" in refused


def pictured(steps: list[Json]) -> list[Json]:
    return [
        {"type": "text", "text": json.dumps({"play": steps})},
        {"type": "image", "mimeType": "image/png", "data": PIXEL},
    ]


async def test_images_are_sent_to_a_model_that_no_list_knows(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    with profile(agent_home, model, "openai/nobody-knows-it"):
        session = await agent.new(str(tmp_path))
        answer = await agent.call(
            "session/prompt", sessionId=session, prompt=pictured([{"text": "A dot."}])
        )
    assert answer["stopReason"] == "end_turn"
    assert PIXEL in str(model.asked[-1].body["messages"])


async def test_a_model_that_refuses_images_goes_on_without_them(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """It is said in plain words, and the next prompt is not refused for the image before it."""
    error = {"status": 400, "message": "This model does not support image input."}
    with profile(agent_home, model, "openai/blind-and-unknown"):
        session = await agent.new(str(tmp_path))
        asked = agent.ask("session/prompt", sessionId=session, prompt=pictured([{"error": error}]))
        failed = (await agent.answer(asked))["error"]["message"]
        assert failed.startswith("openai/blind-and-unknown does not seem to accept images")
        assert "does not support image input" in failed
        agent.news()
        answer = await agent.turn(session, [{"text": "Then so."}])
        assert answer["result"]["stopReason"] == "end_turn"
        assert words(agent.news(session)) == "Then so."
        assert PIXEL not in str(model.asked[-1].body["messages"])
        agent.news()
        await agent.call("session/prompt", sessionId=session, prompt=pictured([{"text": "Hm."}]))
    notices = words(agent.news(session), "agent_thought_chunk")
    assert "does not accept images, so yours was not sent" in notices


async def test_a_model_known_not_to_take_images_is_sent_none(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """It is not asked, and whoever sent one is told."""
    count = len(model.asked)
    with profile(agent_home, model, "openai/gpt-3.5-turbo"):
        session = await agent.new(str(tmp_path))
        await agent.call("session/prompt", sessionId=session, prompt=pictured([{"text": "Hm."}]))
    assert "does not support image" in words(agent.news(session))
    assert len(model.asked) == count
