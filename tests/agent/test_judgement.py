"""The agent asks its client about every action before it runs; an editor that cannot judge gets the
same rules and the same guard from the agent itself."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, keep_cold, surroundings
from tests.agent.driving import (
    ALLOW,
    REJECT,
    allow_all,
    answer_all,
    calls,
    edit,
    permission,
    run,
    stop_reason,
    tool_of_server,
    words,
)
from tests.agent.test_surroundings import SERVER
from tests.worker.aviary import trust

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOW = {"security_risk": "LOW"}
HERE: Json = {"mcpServers": []}
ALLOWED: Json = {"outcome": "allow", "by": "confirm:all", "words": "allowed (approve all)"}
DENIED: Json = {"outcome": "deny", "by": "rule:no", "words": "denied by rule no", "reason": "why"}
ASKED: Json = {"outcome": "ask", "by": "confirm:every"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def judged_process(agent_home: Path) -> AsyncIterator[Agent]:
    agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    offered = {"_meta": {"rookery": {"judge": True}}}
    await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
    yield agent
    await agent.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def judged(judged_process: Agent) -> Agent:
    judged_process.answers.clear()
    judged_process.lines.clear()
    judged_process._read = 0
    return judged_process


def judge_by(agent: Agent, judge: Callable[[Json], Json | None]) -> list[Json]:
    """Answer each call by a function of it; what was asked about is in the list."""
    asked: list[Json] = []

    def serve(params: Json) -> Any:
        asked.extend(params["calls"])
        return {"judgements": [judge(each["toolCall"]) for each in params["calls"]]}

    agent.answers["_rookery/judge"] = serve
    return asked


def command_of(call: Json) -> str:
    return str(call["rawInput"].get("command"))


@pytest.mark.parametrize("mode", ["always-ask", "risk-based", "always-approve"])
async def test_every_action_is_asked_about_before_it_runs(
    judged: Agent, tmp_path: Path, mode: str
) -> None:
    """In every mode, with the model's word; what is allowed runs without a question, also where
    everything is to be asked, and whatever the SDK's policy would say."""
    asked = judge_by(judged, lambda _: ALLOWED)
    people = allow_all(judged)
    session = await judged.new(str(tmp_path))
    await judged.call("session/set_mode", sessionId=session, modeId=mode)
    steps = [run("touch done", **LOW), edit(tmp_path / "a", "x"), {"text": "ok"}]
    assert stop_reason(await judged.turn(session, steps)) == "end_turn"
    assert people == []
    assert [(each["toolCall"]["kind"], each["risk"]) for each in asked] == [
        ("execute", "LOW"),
        ("edit", "UNKNOWN"),
    ]
    assert command_of(asked[0]["toolCall"]) == "touch done"
    announced = [call["toolCallId"] for call in calls(judged.news(session))]
    assert [each["toolCall"]["toolCallId"] for each in asked] == announced
    assert (tmp_path / "done").exists()
    assert (tmp_path / "a").exists()


async def test_the_judgement_begins_before_the_action_is_written_down(
    judged: Agent, tmp_path: Path
) -> None:
    judge_by(judged, lambda _: ALLOWED)
    session = await judged.new(str(tmp_path))
    await judged.turn(session, [run("touch done", **LOW), {"text": "ok"}])
    lines = [str(line) for line in judged.lines]
    asked = next(at for at, line in enumerate(lines) if "_rookery/judge" in line)
    told = next(at for at, line in enumerate(lines) if "tool_call_update" in line)
    assert asked < told


async def test_in_another_mode_it_is_judged_again(judged: Agent, tmp_path: Path) -> None:
    """Also where the mode is changed while the client judges."""
    asked: list[Json] = []
    session = await judged.new(str(tmp_path))

    def serve(params: Json) -> Json:
        asked.extend(params["calls"])
        if len(asked) == 1:
            judged.ask("session/set_mode", sessionId=session, modeId="always-approve")
        return {"judgements": [ALLOWED if len(asked) == 1 else DENIED]}

    judged.answers["_rookery/judge"] = serve
    await judged.turn(session, [run("touch done", **LOW), {"text": "ok"}])
    assert len(asked) == 2
    assert not (tmp_path / "done").exists()


async def test_a_denial_reaches_the_model(
    judged: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    judge_by(judged, lambda _: DENIED)
    session = await judged.new(str(tmp_path))
    answer = await judged.turn(session, [run("touch done"), {"text": "then not"}])
    assert stop_reason(answer) == "end_turn"
    updates = judged.news(session)
    assert words(updates) == "then not"
    assert [call["status"] for call in calls(updates)] == ["failed"]
    assert "Denied by rule no: why" in str(calls(updates)[0]["content"])
    assert "Denied by rule no: why" in str(model.asked[-1].body["messages"][-1]["content"])
    assert not (tmp_path / "done").exists()


async def test_all_actions_of_a_step_are_one_request(judged: Agent, tmp_path: Path) -> None:
    """Judged together, done one by one: one runs, one is denied, one is asked."""
    verdicts = {"touch a": ALLOWED, "touch b": DENIED, "touch c": ASKED}
    judge_by(judged, lambda call: verdicts[command_of(call)])
    people = allow_all(judged)
    session = await judged.new(str(tmp_path))
    many = {"calls": [run(line)["call"] for line in verdicts]}
    assert stop_reason(await judged.turn(session, [many, {"text": "ok"}])) == "end_turn"
    assert judged.requests().count("_rookery/judge") == 1
    assert [command_of(params["toolCall"]) for params in people] == ["touch c"]
    assert sorted(os.listdir(tmp_path)) == ["a", "c"]


async def test_more_actions_than_one_request_takes_are_all_judged(
    judged: Agent, tmp_path: Path
) -> None:
    asked = judge_by(judged, lambda call: DENIED)
    session = await judged.new(str(tmp_path))
    many = {"calls": [run(f"echo {number}", **LOW)["call"] for number in range(101)]}
    await judged.turn(session, [many, {"text": "ok"}])
    assert len(asked) == 101
    assert {call["status"] for call in calls(judged.news(session))} == {"failed"}


async def test_the_client_decides_whatever_model_and_mode_say(
    judged: Agent, tmp_path: Path
) -> None:
    """The client says ask: it is asked, though the agent's own mode approves all."""
    judge_by(judged, lambda _: ASKED)
    people = allow_all(judged)
    session = await judged.new(str(tmp_path))
    await judged.call("session/set_mode", sessionId=session, modeId="always-approve")
    await judged.turn(session, [run("touch done", **LOW), {"text": "ok"}])
    assert len(people) == 1
    assert (tmp_path / "done").exists()


NONSENSE: list[Any] = [
    Exception(-32603, "broken client"),
    Exception(-32601, "Method not found"),
    {"judgements": []},
    {"judgements": [{"outcome": "yes"}]},
    {"judgements": [ALLOWED, ALLOWED]},
    {"outcome": "allow"},
    "allow",
    [],
]


@pytest.mark.parametrize("answer", NONSENSE, ids=str)
async def test_nothing_runs_where_nobody_can_judge(
    judged: Agent, tmp_path: Path, answer: Any
) -> None:
    """It waits, the turn says so, and the next prompt has it judged again first."""
    judged.answers["_rookery/judge"] = lambda _: answer
    people = allow_all(judged)
    session = await judged.new(str(tmp_path))
    await judged.call("session/set_mode", sessionId=session, modeId="always-approve")
    ended = await judged.turn(session, [run("touch done", **LOW), {"text": "ok"}])
    assert stop_reason(ended) == "end_turn"
    updates = judged.news(session)
    assert "waits for your permission" in words(updates)
    assert [call["status"] for call in calls(updates)] == ["pending"]
    assert (people, os.listdir(tmp_path)) == ([], [])
    asked = judge_by(judged, lambda _: ALLOWED)
    assert stop_reason(await judged.turn(session, "now then")) == "end_turn"
    assert [command_of(each["toolCall"]) for each in asked] == ["touch done"]
    assert (tmp_path / "done").exists()


async def test_a_cancel_during_judgement_runs_nothing(judged: Agent, tmp_path: Path) -> None:
    """Nobody answers: the turn ends at once, and nothing runs."""
    session = await judged.new(str(tmp_path))
    running = judged.prompt(session, [run("touch done"), {"text": "ok"}])
    await judged.until(lambda line: line.get("method") == "_rookery/judge")
    judged.notify("session/cancel", sessionId=session)
    assert stop_reason(await judged.answer(running)) == "cancelled"
    judge_by(judged, lambda _: ALLOWED)
    assert stop_reason(await judged.turn(session, "next")) == "end_turn"
    assert not (tmp_path / "done").exists()


@pytest.mark.long
async def test_a_client_that_hung_up_allows_nothing(agent_home: Path, tmp_path: Path) -> None:
    """The connection ends while an action is judged: it does not run."""
    agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    offered = {"_meta": {"rookery": {"judge": True}}}
    await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
    session = await agent.new(str(tmp_path))
    agent.prompt(session, [run("touch done", **LOW), {"text": "ok"}])
    await agent.until(lambda line: line.get("method") == "_rookery/judge")
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    await agent.process.wait()
    assert not (tmp_path / "done").exists()


async def test_a_loaded_conversation_is_judged_again(judged: Agent, tmp_path: Path) -> None:
    """What waited is judged by what holds when it is asked again: a rule of today denies it."""
    judge_by(judged, lambda _: ASKED)
    answer_all(judged, "nonsense")
    session = await judged.new(str(tmp_path))
    await judged.turn(session, [run("touch done"), {"text": "ok"}])
    await judged.call("session/close", sessionId=session)
    await judged.call("session/load", sessionId=session, cwd=str(tmp_path), **HERE)
    judged.news()
    judge_by(judged, lambda _: DENIED)
    assert stop_reason(await judged.turn(session, "go on")) == "end_turn"
    assert "Denied by rule no: why" in str(calls(judged.news(session))[0]["content"])
    assert not (tmp_path / "done").exists()


def task(*steps: Json) -> Json:
    play = json.dumps({"play": [*steps, {"text": "did it"}]})
    arguments = {"prompt": play, "subagent_type": "bash-runner", "description": "below", **LOW}
    return {"call": {"name": "task", "arguments": arguments}}


@pytest.mark.parametrize("answer", [DENIED, None], ids=["denied", "nonsense"])
async def test_a_sub_agents_actions_are_judged(
    judged: Agent, tmp_path: Path, answer: Json | None
) -> None:
    """Each of them, under its own call; what is denied, or cannot be judged, does not run and the
    sub-agent goes on."""
    asked = judge_by(judged, lambda call: answer if "no" in command_of(call) else ALLOWED)
    people = allow_all(judged)
    session = await judged.new(str(tmp_path))
    await judged.call("session/set_mode", sessionId=session, modeId="always-approve")
    steps = [task(run("touch no", **LOW), run("touch yes", **LOW)), {"text": "ok"}]
    assert stop_reason(await judged.turn(session, steps)) == "end_turn"
    assert [each["risk"] for each in asked] == ["LOW"] * 3
    assert people == []
    assert os.listdir(tmp_path) == ["yes"]


BOSS = """---
name: boss
model: inherit
description: Lets others do it.
permission_mode: never_confirm
tools:
  - terminal
  - task_tool_set
---
You are the boss.
"""


async def test_a_sub_agent_that_claims_never_to_ask_is_judged(
    judged: Agent, tmp_path: Path
) -> None:
    """One of the project's own, and the sub-agent that it starts: both are judged."""
    (tmp_path / ".agents" / "agents").mkdir(parents=True)
    (tmp_path / ".agents" / "agents" / "boss.md").write_text(BOSS)
    asked = judge_by(judged, lambda call: DENIED if "no" in command_of(call) else ALLOWED)
    session = await judged.new(str(tmp_path))
    await judged.call("session/set_mode", sessionId=session, modeId="always-approve")
    below = task(run("touch no-2", **LOW), run("touch yes-2", **LOW))
    first = task(run("touch no-1", **LOW), below)
    first["call"]["arguments"]["subagent_type"] = "boss"
    assert stop_reason(await judged.turn(session, [first, {"text": "ok"}])) == "end_turn"
    lines = [command_of(each["toolCall"]) for each in asked]
    assert lines == ["None", "touch no-1", "None", "touch no-2", "touch yes-2"]
    assert sorted(os.listdir(tmp_path)) == [".agents", "yes-2"]


async def test_a_tool_of_an_mcp_server_is_judged(
    judged: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Under its own name, before the server hears of it."""
    (tmp_path / "server.py").write_text(SERVER)
    server: Json = {"name": "songs", "command": sys.executable, "env": []}
    server |= {"args": [str(tmp_path / "server.py")]}
    asked = judge_by(judged, lambda _: DENIED)
    made = await judged.call("session/new", cwd=str(tmp_path), mcpServers=[server])
    session = made["sessionId"]
    await judged.call("session/set_mode", sessionId=session, modeId="always-approve")
    name = await tool_of_server(judged, model, session, "sing")
    call = {"name": name, "arguments": {"word": "lu"}}
    await judged.turn(session, [{"call": call}, {"text": "ok"}])
    assert [each["toolCall"]["name"] for each in asked] == ["mcp__songs__sing"]
    [called] = calls(judged.news(session))
    assert called["status"] == "failed"
    assert "la lu" not in str(called)


# --- an editor that cannot judge -----------------------------------------------------------------


NO_TOUCH = 'name = "no-touch"\ndo = "deny"\ncommand = "touch*"\nreason = "not here"'


@pytest.fixture
def ruled(agent_home: Path) -> Iterator[Callable[..., None]]:
    """Writes rules into the home of the shared agent, and takes them out again."""
    path = agent_home / "config.toml"

    def write(*tables: str, head: str = "") -> None:
        text = "".join(f"[[policy.rules]]\n{table}\n" for table in tables)
        new = path.with_suffix(".new")
        new.write_text(head + "[agent]\nwarm = false\n" + text)
        new.replace(path)

    yield write
    keep_cold(agent_home)


@pytest.mark.parametrize("mode", ["always-ask", "risk-based", "always-approve"])
async def test_an_editor_gets_the_same_rules_and_guard(
    agent: Agent,
    ruled: Callable[..., None],
    model: ScriptedModel,
    tmp_path: Path,
    mode: str,
) -> None:
    """Without a worker, a deny rule and what cannot be undone hold in every mode."""
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId=mode)
    (tmp_path / "build").mkdir()
    people = answer_all(agent, {"outcome": {"outcome": "selected", "optionId": "reject"}})
    ruled(NO_TOUCH)
    steps = [run("touch done", **LOW), run("rm -rf build", **LOW), {"text": "ok"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    assert [command_of(params["toolCall"]) for params in people] == ["rm -rf build"]
    assert os.listdir(tmp_path) == ["build"]
    assert "Denied by rule no-touch: not here" in str(model.asked[-1].body["messages"])
    ruled()
    people.clear()
    await agent.turn(session, [run("echo x > plain", **LOW), {"text": "ok"}])
    assert len(people) == (1 if mode == "always-ask" else 0)


async def test_an_editors_allow_rule_holds_and_a_broken_file_changes_nothing(
    agent: Agent, agent_home: Path, ruled: Callable[..., None], tmp_path: Path
) -> None:
    """What a rule allows is not asked in always-ask, once a person confirmed it: while an agent
    runs, it could have written it itself. A file that cannot be read leaves the rules from before
    in force."""
    people = allow_all(agent)
    session = await agent.new(str(tmp_path))
    ruled('do = "allow"\ncommand = "touch*"')
    trust(str(agent_home))
    await agent.turn(session, [run("touch a"), {"text": "ok"}])
    ruled('do = "nonsense"')
    await agent.turn(session, [run("touch b"), {"text": "ok"}])
    assert people == []
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


async def test_the_models_word_can_only_raise_the_risk(agent: Agent, tmp_path: Path) -> None:
    """HIGH is asked whatever the text says, LOW is asked where the text says so."""
    people = allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="risk-based")
    (tmp_path / "build").mkdir()
    steps = [run("echo 1", security_risk="HIGH"), run("rm -rf build", **LOW), run("echo 2", **LOW)]
    await agent.turn(session, [*steps, {"text": "ok"}])
    asked = [command_of(params["toolCall"]) for params in people]
    assert asked == ["echo 1", "rm -rf build"]


async def test_looking_at_a_running_command_is_not_risky(agent: Agent, tmp_path: Path) -> None:
    """It runs nothing; to end the shell does."""
    people = allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.call("session/set_mode", sessionId=session, modeId="risk-based")
    steps = [run("sleep 0.1", **LOW), run("", **LOW), run("", reset=True, **LOW), {"text": "ok"}]
    await agent.turn(session, steps)
    assert [params["toolCall"]["title"] for params in people] == ["reset the terminal"]


async def test_an_editors_agent_keeps_to_the_roots(agent: Agent, tmp_path: Path) -> None:
    """A write outside waits for a person also in always-approve; /tmp is free."""
    outside = Path(tempfile.mkdtemp(prefix="rkj-", dir="/var/tmp"))
    try:
        session = await agent.new(str(tmp_path / ".."))
        await agent.call("session/set_mode", sessionId=session, modeId="always-approve")
        running = agent.prompt(session, [edit(outside / "a", "x"), {"text": "ok"}])
        asked = await permission(agent)
        assert not (outside / "a").exists()
        agent.send(id=asked["id"], result=ALLOW)
        assert stop_reason(await agent.answer(running)) == "end_turn"
        assert (outside / "a").exists()
        free = Path(tempfile.mkdtemp(prefix="rkj-", dir="/tmp"))
        await agent.turn(session, [edit(free / "a", "x"), {"text": "ok"}])
        assert (free / "a").exists()
        shutil.rmtree(free)
    finally:
        shutil.rmtree(outside)


@pytest.mark.parametrize(
    ("command", "said", "words"),
    [
        ("python3 -c 'eval(1)'", "LOW", "High risk: it evaluates text as code (eval)."),
        ("rm -rf build", "LOW", "This cannot be undone: it "),
        ("make", "HIGH", "High risk, says the model."),
        ("make", "LOW", ""),
        ("grep -rn 'rm -rf /' docs", "LOW", ""),
    ],
)
async def test_an_editors_ask_gives_the_reason(
    agent: Agent, tmp_path: Path, command: str, said: str, words: str
) -> None:
    """Who has no worker gets the reason in the ask's content, before the command."""
    asked = answer_all(agent, REJECT)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run(command, security_risk=said), {"text": "ok"}])
    content = [part["content"]["text"] for part in asked[0]["toolCall"]["content"]]
    assert content[-1].startswith("```sh")
    assert (content[0].startswith(words), len(content)) == (True, 2 if words else 1)
