"""Claude's signed thoughts on a real agent server: the next request brings each back as it came."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.agent.dialects.speaking import models
from tests.agent.driving import allow_all, run, stop_reason, words
from tests.agent.elsewhere.agent_server import KEY, RealServer
from tests.agent.elsewhere.conftest import started

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


async def test_a_signed_thought_goes_back_once(
    real: RealServer, settled: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """The provider refuses one that it did not sign: at the first result of a tool."""
    place = settled / "agent_settings.json"
    document = json.loads(place.read_text())
    document["profiles"] |= models(model)
    place.write_text(json.dumps(document | {"default": "anthropic"}))
    agent = await started(settled, "--remote", real.url, SESSION_API_KEY=KEY)
    try:
        allow_all(agent)
        session = await agent.new(str(tmp_path))
        first = {"thought": "One look first.", **run("echo one")}
        second = {"thought": "Now another.", "text": "Going on.", **run("echo two")}
        steps = [first, second, {"thought": "Done.", "text": "Both ran."}]
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
        news = agent.news(session)
        assert words(news).endswith("Both ran.")
        assert words(news, "agent_thought_chunk").count("One look first.") == 1
        assert stop_reason(await agent.turn(session, "and on")) == "end_turn"
    finally:
        await agent.kill()
