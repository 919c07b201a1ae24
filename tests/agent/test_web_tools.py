"""The web's tools in a session of our own agent: asked about as network actions, shown with their
address, allowed in plan mode, and marked as somebody else's text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, calls, shown, stop_reason
from tests.agent.test_web import HERE, Server, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "search-key-0123456789"


@pytest.fixture(scope="module")
def site() -> Iterator[Server]:
    with serving() as made:
        yield made


def fetch(url: str) -> Json:
    return {"call": {"name": "web_fetch", "arguments": {"url": url}}}


async def agent_with(home: Path, model: ScriptedModel, config: str) -> Agent:
    (home / "config.toml").write_text(config)
    given = {"LLM_MODEL": "openai/x", "LLM_API_KEY": "sk-x-y-z", "LLM_BASE_URL": model.url}
    argv = [*ARGV, "--override-with-envs"]
    agent = await Agent.start(argv, environment=surroundings(home, **given), forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    return agent


async def test_a_page_is_asked_about_shown_with_its_address_and_marked(
    agent_home: Path, model: ScriptedModel, tmp_path: Path, site: Server
) -> None:
    """Also in plan mode, which refuses what changes something."""
    agent = await agent_with(agent_home, model, f'[web]\nallow = "{HERE}:*"\n')
    try:
        asked = allow_all(agent)
        url = f"http://{HERE}:{site.server_port}/page"
        for mode in ("always-ask", "plan"):
            session = await agent.new(str(tmp_path))
            await agent.call("session/set_mode", sessionId=session, modeId=mode)
            asked.clear()
            answer = await agent.turn(session, [fetch(url), {"text": "ok"}])
            assert stop_reason(answer) == "end_turn"
            [ask] = [each["toolCall"] for each in asked]
            assert (ask["kind"], ask["title"]) == ("fetch", f"fetch {url}")
            assert ask["rawInput"] == {"url": url}
            [call] = calls(agent.news(session))
            assert call["status"] == "completed"
            assert "Hello [there]" in shown(call)
            assert "Untrusted text from the web" in shown(call)
        offered = [each["function"]["name"] for each in model.asked[-1].body["tools"]]
        assert "web_search" not in offered
    finally:
        (agent_home / "config.toml").unlink()
        await agent.kill()


async def test_a_private_address_is_refused_and_a_search_keeps_its_key(
    agent_home: Path, model: ScriptedModel, tmp_path: Path, site: Server
) -> None:
    where = f"http://{HERE}:{site.server_port}"
    keys = f'search = "brave"\nsearch_url = "{where}"\nsearch_key = "{KEY}"\n'
    agent = await agent_with(agent_home, model, f"[web]\n{keys}")
    try:
        asked = allow_all(agent)
        session = await agent.new(str(tmp_path))
        steps = [
            fetch(f"{where}/page"),
            {"call": {"name": "web_search", "arguments": {"search_query": "drop table birds"}}},
            {"call": {"name": "terminal", "arguments": {"command": f"env; echo {KEY}"}}},
            {"text": "ok"},
        ]
        site.asked.clear()
        await agent.turn(session, steps)
        titles = [each["toolCall"]["title"] for each in asked]
        assert titles[:2] == [f"fetch {where}/page", "search the web for drop table birds"]
        first, second, third = calls(agent.news(session))
        assert (first["status"], second["status"]) == ("failed", "completed")
        assert "private network" in shown(first)
        assert "https://example.com/" in shown(second)
        assert [each[2]["X-Subscription-Token"] for each in site.asked] == [KEY]
        assert third["status"] == "completed"
        assert KEY not in str(agent.news(session))
        assert KEY not in str(model.asked[-1].body).replace(f"echo {KEY}", "")
    finally:
        (agent_home / "config.toml").unlink()
        await agent.kill()
