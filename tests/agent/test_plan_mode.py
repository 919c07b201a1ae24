"""Plan mode of our own agent: nothing is changed, by whatever means its model tries; the plan is
shown, and the user's "go" carries on with it."""

import json
import subprocess
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.driving import (
    ALLOW,
    allow_all,
    answer_all,
    calls,
    edit,
    permission,
    run,
    shown,
    stop_reason,
    words,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAN = {"text": "# Plan\n\n1. Write a file."}
LIES = {"security_risk": "LOW"}
INJECTED = {"outcome": "injected"}
KEEP = {"outcome": {"outcome": "selected", "optionId": "keep-planning"}}


def go(mode: str = "always-approve") -> Json:
    return {"outcome": {"outcome": "selected", "optionId": mode}}


def monitor(place: Path) -> None:
    """A repository whose settings make git run a program before it looks."""
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    value = ["core.fsmonitor", "touch monitored; false"]
    subprocess.run(["git", "-C", str(place), "config", *value], check=True)


async def planning(agent: Agent, place: Path) -> str:
    session = await agent.new(str(place))
    await agent.call("session/set_mode", sessionId=session, modeId="plan")
    return session


async def test_a_lying_model_changes_nothing_and_go_carries_on(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Refused where the tool runs: an edit, a command, a command behind a harmless one, what a
    sub-agent does, and an alias that was set before; looks run unasked, and without the program
    that a repository's settings want git to run."""
    monitor(tmp_path)
    asked = allow_all(agent)
    session = await agent.new(str(tmp_path))
    trap = run("alias ls='touch trapped'; shopt -s expand_aliases")
    await agent.turn(session, [trap, {"text": "Ready."}])
    await agent.call("session/set_mode", sessionId=session, modeId="plan")
    del asked[:]
    agent.news(session)
    task = {
        "name": "task",
        "arguments": {
            "description": "x",
            "prompt": json.dumps({"play": [run("touch below", **LIES), {"text": "Done below."}]}),
        },
    }
    answer_all(agent, go())
    steps = [
        edit(tmp_path / "a", "x"),
        run("touch b", **LIES),
        run("ls; touch c", **LIES),
        run("ls; git status", **LIES),
        {"call": task},
        PLAN,
        run("touch done"),
        {"text": "Carried out."},
    ]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    updates = agent.news(session)
    assert {path.name for path in tmp_path.iterdir()} == {".git", "done"}
    found = calls(updates)
    refused = [each for each in found if "Not in plan mode" in shown(each)]
    assert len(refused) == 4
    assert "touch is not known to only look" in shown(refused[1])
    asks = [each for each in found if each.get("kind") == "switch_mode"]
    assert [(each["status"], shown(each)) for each in asks] == [("completed", "Go, approve all.")]
    assert "Carried out." in words(updates)
    modes = [each["currentModeId"] for each in updates if "currentModeId" in each]
    assert modes == ["always-approve"]
    told = str(model.asked[-1].body["messages"])
    assert "[Plan mode]" in told
    assert "The user agreed to the plan." in told


async def test_the_user_may_keep_planning_say_why_and_go_later(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """A reason goes to the model, which plans again; without one the turn ends, and the mode
    stays. What is only answered asks nothing. `/go` and `/plan` do the same by hand."""
    session = await agent.new(str(tmp_path))
    reason = {"_meta": {"rookery": {"reason": "Use another name."}}}
    answers = iter([{"outcome": KEEP["outcome"] | reason}, KEEP])
    asked: list[Json] = []
    agent.answers["session/request_permission"] = lambda params: (
        asked.append(params) or next(answers)
    )
    script = json.dumps(
        {"play": [{"text": "An answer."}, PLAN, PLAN, run("touch done"), {"text": "ok"}]}
    )
    assert stop_reason(await agent.turn(session, f"/plan {script}")) == "end_turn"
    assert not asked
    await agent.turn(session, "And a plan?")
    assert [each["toolCall"]["rawInput"] for each in asked] == [{"plan": PLAN["text"]}] * 2
    assert "Use another name." in str(model.asked[-1].body["messages"])
    options = [option["optionId"] for option in asked[0]["options"]]
    assert options == ["always-ask", "risk-based", "always-approve", "keep-planning"]
    allowed = allow_all(agent)
    await agent.turn(session, "/go every")
    assert [each["toolCall"]["title"] for each in allowed] == ["run touch done"]
    assert (tmp_path / "done").exists()
    assert "[Plan mode is over]" in str(model.asked[-1].body["messages"])
    await agent.turn(session, "/go")
    assert "not plan mode" in words(agent.news(session))


async def test_a_command_started_by_a_look_can_be_ended(agent: Agent, tmp_path: Path) -> None:
    asked = allow_all(agent)
    session = await planning(agent, tmp_path)
    (tmp_path / "log").write_text("one\n")
    steps = [run("tail -f log", timeout=1), run("C-c", is_input=True), run("cat log")]
    await agent.turn(session, [*steps, {"text": "Seen."}])
    assert [each["status"] for each in calls(agent.news(session))][1:] == ["failed", "completed"]
    assert asked == []


async def test_a_late_yes_runs_nothing_in_plan_mode(agent: Agent, tmp_path: Path) -> None:
    """The user is asked, chooses plan mode meanwhile, and then allows it: it is not run."""
    session = await agent.new(str(tmp_path))
    sent = agent.prompt(session, [run("touch a"), {"text": "No."}])
    asked = await permission(agent)
    await agent.call("session/set_mode", sessionId=session, modeId="plan")
    agent.send(id=asked["id"], result=ALLOW)
    await agent.answer(sent)
    assert not (tmp_path / "a").exists()
    assert "Not in plan mode" in shown(calls(agent.news(session))[0])


async def test_a_prompt_or_another_mode_withdraws_the_plans_ask(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """A plan waits for its go: words plan again, `/go` carries on, another mode ends the turn; in
    each case the open ask is withdrawn."""
    session = await agent.new(str(tmp_path))
    better = {"text": "# Plan\n\n2. Better."}
    play = json.dumps({"play": [PLAN, better, {"text": "Went."}, PLAN, {"text": "Never."}]})
    sent = agent.prompt(session, f"/plan {play}")
    first = await permission(agent)
    shorter = [{"type": "text", "text": "Shorter!"}]
    assert await agent.call("_session/steering", sessionId=session, prompt=shorter) == INJECTED
    second = await permission(agent)
    assert second["params"]["toolCall"]["rawInput"]["plan"] == better["text"]
    went = [{"type": "text", "text": "/go all"}]
    assert await agent.call("_session/steering", sessionId=session, prompt=went) == INJECTED
    assert stop_reason(await agent.answer(sent)) == "end_turn"
    updates = agent.news(session)
    assert words(updates).endswith("Went.")
    assert [each["status"] for each in calls(updates)] == ["failed", "failed"]
    told = str(model.asked[-1].body["messages"])
    assert told.index("Shorter!") < told.index("[Plan mode is over]") < told.index("Carry out")
    sent = agent.prompt(session, "/plan again")
    third = await permission(agent)
    await agent.call("session/set_mode", sessionId=session, modeId="always-ask")
    assert stop_reason(await agent.answer(sent)) == "end_turn"
    assert "Never." not in words(agent.news(session))
    withdrawn = [
        line["params"]["requestId"]
        for line in agent.lines
        if line.get("method") == "$/cancel_request"
    ]
    assert withdrawn[-3:] == [first["id"], second["id"], third["id"]]
