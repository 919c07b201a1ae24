"""The critic's sources: a judge among the person's models, and where the API's critic is asked."""

import json
from pathlib import Path

import pytest

from rookery.agent.conversation.assembly import llm_of
from rookery.agent.conversation.choices import ChoiceValues
from rookery.agent.conversation.critic import critic_url, has_api_critic, issues_of, verdict_of
from rookery.agent.scripted.server import ScriptedModel
from rookery.models.profiles import Profile
from rookery.models.secrets import Secret
from tests.acp.driving import Agent
from tests.agent.conftest import write_settings
from tests.agent.driving import stop_reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

VERDICT = {
    "score": 0.4,
    "issues": [
        {"name": "no tests", "category": "care", "probability": 0.9, "kind": "behavioural"},
    ],
}


@pytest.mark.long
async def test_a_judge_among_the_models(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """Its verdict goes with the answer; a turn that failed or was cancelled is not judged, and a
    judge that says something else says nothing."""
    write_settings(agent_home, model, critic={"judge": "second"})
    try:
        session = await agent.new(str(tmp_path))
        answer = await agent.turn(session, [{"text": json.dumps(VERDICT)}])
        assert stop_reason(answer) == "end_turn"
        told = answer["result"]["_meta"]["rookery"]["critic"]
        assert told == {**VERDICT, "source": "judge"}
        assert model.asked[-1].body["model"] == "other"
        count = len(model.asked)
        unwanted = agent.ask(
            "session/prompt",
            sessionId=session,
            prompt=[{"type": "text", "text": "once more"}],
            _meta={"rookery": {"critic": False}},
        )
        assert (await agent.answer(unwanted))["result"]["stopReason"] == "end_turn"
        assert len(model.asked) == count + 1, "where nobody wants a verdict, nobody is asked"
        session = await agent.new(str(tmp_path))
        answer = await agent.turn(session, [{"text": "no verdict at all"}])
        assert answer["result"]["stopReason"] == "end_turn"
        count = len(model.asked)
        await agent.turn(session, "/cost")
        assert len(model.asked) == count
    finally:
        write_settings(agent_home, model)


@pytest.mark.parametrize(
    ("key", "url", "asked"),
    [
        ("k", "https://llm-proxy.app.all-hands.dev", True),
        ("k", "https://llm-proxy.app.all-hands.dev/v1", True),
        ("", "https://llm-proxy.app.all-hands.dev", False),
        ("k", "https://llm-proxy.all-hands.dev", False),
        ("k", "https://example.org/llm-proxy.app.all-hands.dev", False),
        ("k", "", False),
    ],
)
async def test_where_the_api_critic_is(key: str, url: str, asked: bool) -> None:
    model = Profile("p", "openhands/m", Secret(key), url, None, {})
    assert has_api_critic(model) is asked


@pytest.mark.parametrize(
    ("base", "place"),
    [
        ("https://llm-proxy.app.all-hands.dev", "https://llm-proxy.app.all-hands.dev/vllm"),
        ("https://llm-proxy.app.all-hands.dev/v1/", "https://llm-proxy.app.all-hands.dev/vllm"),
        ("http://llm-proxy.x.all-hands.dev:8080/v1", "http://llm-proxy.x.all-hands.dev:8080/vllm"),
        ("https://llm-proxy.x.all-hands.dev.org", "https://llm-proxy.x.all-hands.dev.org/vllm"),
    ],
)
async def test_the_key_goes_to_the_host_that_it_is_for(base: str, place: str) -> None:
    assert critic_url(base) == place


async def test_issues_by_category() -> None:
    found = issues_of(
        {
            "agent_behavioral_issues": [{"display_name": "Loop", "name": "l", "probability": 0.8}],
            "infrastructure_issues": [{"name": "net", "probability": 0.5}],
            "sentiment": None,
        }
    )
    assert [(each["name"], each["kind"]) for each in found] == [
        ("Loop", "behavioural"),
        ("net", "infrastructure"),
    ]


@pytest.mark.parametrize(
    "answer", ["", "no", "{}", '{"score": 2}', '{"score": true}', '{"score": "x"}', "[1]", "{"]
)
async def test_what_is_no_verdict(answer: str) -> None:
    assert verdict_of(answer) is None


async def test_a_verdict_within_words() -> None:
    told = verdict_of('Well: {"score": 1, "issues": [4, {"name": "x", "odd": 1}]} so far')
    assert told == {"score": 1.0, "source": "judge", "issues": [{"name": "x"}]}


@pytest.mark.parametrize("url", ["https://llm-proxy.app.all-hands.dev", "https://example.org"])
async def test_the_proxy_alone_is_told_of_the_app(url: str) -> None:
    llm = llm_of(Profile("p", "openai/m", Secret("k"), url, None, {}), ChoiceValues(), None)
    told = "app:rookery-agent" in str(llm.litellm_extra_body)
    assert told is ("all-hands" in url)
