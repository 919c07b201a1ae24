"""`/goal` goes on until a judge finds the goal reached, as the SDK judges it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.agent.session.goal import UNREADABLE, verdict_in
from rookery.core import budgets
from tests.acp.driving import Agent, Json
from tests.agent.conftest import QUICK
from tests.agent.driving import answer_all, run, stop_reason, words
from tests.daemon.served import awaited

pytestmark = pytest.mark.asyncio(loop_scope="session")


def verdict(score: float, missing: str = "") -> Json:
    told = {"score": score, "complete": score == 1.0, "missing": missing}
    return {"text": f"```json\n{json.dumps(told)}\n```"}


@contextmanager
def judged(home: Path, verdict: Json) -> Iterator[ScriptedModel]:
    """Another model than the session's own judges."""
    place = home / "agent_settings.json"
    before = place.read_text()
    with serving({"aside": verdict}) as judge:
        document = json.loads(before)
        document["profiles"]["judge"] = profile(judge)
        document["critic"] = {"judge": "judge"}
        place.write_text(json.dumps(document))
        try:
            yield judge
        finally:
            place.write_text(before)


@contextmanager
def working(home: Path, *turns: str | Json) -> Iterator[ScriptedModel]:
    """A model that plays these when it is to "make it pass"; a script in the prompt would be the
    judge's, too."""
    place = home / "agent_settings.json"
    before = place.read_text()
    with serving({"match": [{"contains": "make it pass", "turns": list(turns)}]}) as model:
        document = json.loads(before)
        document["profiles"]["worker"] = profile(model)
        document["default"] = "worker"
        place.write_text(json.dumps(document))
        try:
            yield model
        finally:
            place.write_text(before)


def profile(model: ScriptedModel) -> Json:
    own = {"api_key": "sk-scripted-key", "num_retries": 1, "model": "openai/scripted"}
    return QUICK | own | {"base_url": model.url}


async def test_a_goal_is_pursued_until_a_judge_finds_it_reached(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    turns = (run("echo one"), "First", "Second")
    with working(agent_home, *turns), judged(agent_home, verdict(1.0) | {"delay": 0.3}) as judge:
        session = await agent.new(str(tmp_path))
        params = {"sessionId": session, "configId": "mode", "value": "always-approve"}
        await agent.call("session/set_config_option", **params)
        answer = await agent.turn(session, "/goal make it pass")
        told = words(agent.news(session))
        assert stop_reason(answer) == "end_turn"
        assert told == "First\n\nThe goal is reached, after 1 round.\n\n"
        sent = str(judge.asked[0].body)
        assert "make it pass" in sent
        assert "echo one" in sent or "one" in sent
        assert answer["result"]["usage"]["totalTokens"] == 3 * 120, "the judge's count, too"
        assert len(judge.asked) == 1, "the critic has the same verdict"
        critic = {"score": 1.0, "source": "judge", "issues": []}
        assert answer["result"]["_meta"]["rookery"]["critic"] == critic
        record = json.loads((agent_home / "conversations" / session / "session.json").read_text())
        assert not record.get("goal")
        await agent.turn(session, "/goal")
        assert "No goal yet." in words(agent.news(session))
        goal = agent.prompt(session, "/goal make it pass")
        await asyncio.to_thread(awaited, lambda: len(judge.asked) == 2)
        more = agent.prompt(session, "What is said while the judge reads is answered, too.")
        assert [stop_reason(await agent.answer(id)) for id in (goal, more)] == ["end_turn"] * 2
        told = words(agent.news(session))
        assert told == "First\n\nThe goal is reached, after 1 round.\n\nSecond"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('Well: {"score": 0.4, "complete": "false", "missing": null}', (0.4, False, "")),
        ('{"complete": true}', (1.0, True, "")),
        ('{"score": 1}', (1, True, "")),
        ('{"score": NaN, "complete": false, "missing": 3}', (0.0, False, "3")),
        *[(text, None) for text in ("", "Done!", "[1]", "{}", '{"score": 7}', '{"score": "NaN"}')],
    ],
)
async def test_a_judges_verdict_is_read_correctly(
    said: str, found: tuple[float, bool, str] | None
) -> None:
    """A word is not the opposite of what it says, and nonsense is no verdict."""
    assert verdict_in(said) == (
        None if found is None else dict(zip(("score", "complete", "missing"), found, strict=True))
    )


async def test_a_failing_judge_ends_only_the_goal(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    refused: Json = {"error": {"status": 401, "message": "Incorrect API key"}, "times": 9}
    with working(agent_home, "First"), judged(agent_home, refused):
        session = await agent.new(str(tmp_path))
        answer = await agent.turn(session, "/goal make it pass")
        told = words(agent.news(session))
        assert stop_reason(answer) == "end_turn"
        assert "I could not judge whether the goal is reached. The model's provider refused" in told
        await agent.turn(session, json.dumps({"play": ["On"]}))
        assert words(agent.news(session)) == "On"
    with working(agent_home, "Second"), judged(agent_home, {"text": "Splendid."}) as judge:
        session = await agent.new(str(tmp_path))
        answer = await agent.turn(session, "/goal make it pass")
        assert words(agent.news(session)) == f"Second\n\n{UNREADABLE}\n\n"
        assert len(judge.asked) == 2
        assert "_meta" not in answer["result"]


async def test_a_goal_survives_a_restart_and_ends_with_a_cancel(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """Continued (as a worker does after a crash), it is judged again from the round it had."""
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hello")
    await agent.call("session/close", sessionId=session)
    place = agent_home / "conversations" / session / "session.json"
    record = json.loads(place.read_text())
    place.write_text(json.dumps(record | {"goal": {"objective": "all of it", "rounds": 8}}))
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    agent.news(session)
    meta = {"rookery": {"continue": True}}
    with judged(agent_home, verdict(0.2, "the second\nfile")) as judge:
        answer = await agent.call("session/prompt", sessionId=session, prompt=[], _meta=meta)
        told = words(agent.news(session))
    assert answer["stopReason"] == "end_turn"
    assert "all of it" in str(judge.asked[0].body)
    assert "Goal, round 9 of 10: not reached yet. Missing: the second file" in told
    assert "You said: The goal is NOT yet complete (audit iteration 9)" in told
    assert "The goal is not reached after 10 rounds, so I stop here. Missing: the second" in told

    with judged(agent_home, {"hang": True}) as judge:
        prompt = [{"type": "text", "text": "/goal more"}]
        id = agent.ask("session/prompt", sessionId=session, prompt=prompt)
        await asyncio.to_thread(awaited, lambda: bool(judge.asked))
        agent.notify("session/cancel", sessionId=session)
        assert stop_reason(await agent.answer(id)) == "cancelled"
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn", "nothing waits for it"
    assert not json.loads(place.read_text()).get("goal")

    with judged(agent_home, {"hang": True}) as judge:
        id = agent.ask("session/prompt", sessionId=session, prompt=prompt)
        await asyncio.to_thread(awaited, lambda: bool(judge.asked))
        by = {"rookery": {"by": "watchdog"}}  # as a worker does where a budget is reached
        agent.notify("session/cancel", sessionId=session, _meta=by)
        assert stop_reason(await agent.answer(id)) == "cancelled"
    await agent.turn(session, "/goal")
    assert words(agent.news(session)) == "The goal: more"
    with judged(agent_home, verdict(1.0)) as judge:
        await agent.call("session/prompt", sessionId=session, prompt=budgets.CONTINUE)
    assert "The goal is reached, after 1 round." in words(agent.news(session))
    assert "more" in str(judge.asked[0].body)


async def test_a_goal_outlives_the_plan_for_it(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """Nothing is judged while it is only planned; `/go` pursues it."""
    plan = {"text": "# Plan\n\n1. Do it."}
    with working(agent_home, plan, "Carried out"), judged(agent_home, verdict(1.0)) as judge:
        session = await agent.new(str(tmp_path))
        await agent.call("session/set_mode", sessionId=session, modeId="plan")
        answer_all(agent, {"outcome": {"outcome": "selected", "optionId": "keep-planning"}})
        await agent.turn(session, "/goal make it pass")
        assert all("complete" not in str(each.body) for each in judge.asked), "only by the critic"
        await agent.turn(session, "/go all")
        told = words(agent.news(session))
        assert told == "Carried out\n\nThe goal is reached, after 1 round.\n\n"
