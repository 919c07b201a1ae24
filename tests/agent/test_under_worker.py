"""The agent where it lives most: under a worker, driven by the command line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.core.json.events import Event, kind_of
from rookery.home.config import load
from rookery.log.reader import Reader
from tests.agent.conftest import surroundings, warm_up, write_settings
from tests.agent.driving import edit, run
from tests.agent.test_goal import judged, verdict, working
from tests.cli.driving import SECONDS
from tests.daemon.served import awaited
from tests.rigs import forked
from tests.worker.aviary import Bird, is_idle

ROOKERY = [sys.executable, "-P", "-m", "rookery"]


def said(home: Path, cwd: Path, *words: str, code: int = 0, **environment: str) -> str:
    (home / "person").mkdir(exist_ok=True)
    given = surroundings(home, NO_COLOR="1", **environment)
    assert forked.can_run(words, given)
    ended, out, err = forked.run(words, b"", str(cwd), given, SECONDS)
    told = (out + err).decode()
    assert ended == code, told
    return told


def test_a_run_and_what_follows(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    """A command line, a worker, the agent, a model: an edit is judged and done; the next prompt
    goes on in the same conversation; a rate limit is told as one."""
    warm_up(home, model, agent_home)
    play = json.dumps({"play": [edit(tmp_path / "a.txt", "new\n"), {"text": "It is written."}]})
    told = said(home, tmp_path, "run", "--agent", "rookery", play)
    assert "edit a.txt" in told
    assert "It is written." in told
    assert (tmp_path / "a.txt").read_text() == "new\n"
    [session] = os.listdir(home / "sessions")
    with Reader.open(str(home / "sessions" / session)) as log:
        asked = [event.update for event in log.read(0, 1000) if kind_of(event.update) == "_ask"]
    assert asked == []  # it was judged before it ran, and nobody had to be asked
    told = said(home, tmp_path, "prompt", "--wait", session, "are you there?")
    assert "You said: are you there?" in told
    assert play[:20] in str(model.asked[-1].body["messages"])
    limited = {"play": [{"error": {"status": "rate_limit", "retry_after": 3600}}]}
    told = said(home, tmp_path, "prompt", "--wait", session, json.dumps(limited), code=4)
    assert "limit" in told.lower()
    [kept] = os.listdir(home / "conversations")
    assert "You said: are you there?" in said(home, tmp_path, "show", "--all", session)
    assert "sk-scripted-key" not in "".join(
        path.read_text(errors="replace") for path in (home / "conversations" / kept).rglob("*.json")
    )


def test_a_rewind_also_rewinds_our_agents_memory(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    """By a fork of its session as it was then; a fork of the session remembers the same way."""
    warm_up(home, model, agent_home)
    said(home, tmp_path, "run", "--agent", "rookery", "the past")
    [session] = os.listdir(home / "sessions")
    said(home, tmp_path, "prompt", "--wait", session, "the mistake")
    told = said(home, tmp_path, "rewind", session, "1", "--conversation", "--yes")
    assert "recap" not in told
    said(home, tmp_path, "prompt", "--wait", session, "the future")
    asked = str(model.asked[-1].body["messages"])
    assert "the past" in asked
    assert "the mistake" not in asked
    branch = said(home, tmp_path, "fork", session, "1").split()[0]
    said(home, tmp_path, "prompt", "--wait", branch, "another way")
    asked = str(model.asked[-1].body["messages"])
    assert "the past" in asked
    assert "the future" not in asked


def test_our_agents_usage_is_counted_once(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    """Tokens and cost, under the model's name; a second process of the agent counts none again."""
    warm_up(home, model, agent_home)
    used = {"usage": {"input": 1000, "output": 100, "cached": 800}}
    play = json.dumps({"play": [{"text": "One.", **used}]})
    said(home, tmp_path, "run", "--agent", "rookery", play)
    [session] = os.listdir(home / "sessions")
    said(home, tmp_path, "stop", session)
    said(home, tmp_path, "prompt", "--wait", session, json.dumps({"play": [{"text": "Two."}]}))
    found = json.loads(said(home, tmp_path, "usage", "--by", "model", "--json"))
    assert found["total"]["turns"] == 2
    tokens = {"input": 200 + 100, "output": 100 + 20, "cached": 800, "thought": 0}
    assert found["total"]["tokens"] == tokens
    assert found["total"]["cost"]["USD"] > 0
    assert [group["name"] for group in found["groups"]] == ["first"]


@pytest.mark.long
def test_rules_come_before_everything_else(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """`rookery run` says which rule denied what nobody was asked about, and exits with 3; `policy
    test` counts it; what a rule allows runs."""
    write_settings(home, model)
    with (home / "config.toml").open("a") as file:
        file.write(
            '[[policy.rules]]\nname = "no"\ndo = "deny"\ncommand = "touch*"\nreason = "why"\n'
        )
        file.write('[[policy.rules]]\nname = "yes"\ndo = "allow"\ncommand = "mkdir*"\n')
    denied = json.dumps({"play": [run("touch a"), run("mkdir b"), {"text": "It is over."}]})
    told = said(home, tmp_path, "run", "--agent", "rookery", denied, code=3)
    assert "Denied by rule no: why" in told
    assert "allowed by rule yes" in told
    assert os.listdir(tmp_path) == ["b"]
    [session] = os.listdir(home / "sessions")
    tried = said(home, tmp_path, "policy", "test", session, "--all", "--json")
    lines = [json.loads(line) for line in tried.splitlines() if line.startswith("{")]
    assert [(each["what"], each["said"], each["by"], each["rules"]) for each in lines] == [
        ("touch a", "deny", "rule:no", "deny"),
        ("mkdir b", "allow", "rule:yes", "allow"),
    ]


@pytest.mark.long
def test_flags_of_run_hold_for_our_agent_after_the_client_is_gone(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """The real SDK asks long after whoever started it was killed."""
    write_settings(home, model)
    (home / "person").mkdir()
    play = json.dumps({"play": [edit(tmp_path / "a.txt", "new\n"), {"text": "Over."}]})
    words = ["run", "--agent", "rookery", "--approve", "reject", play]
    with subprocess.Popen(
        [*ROOKERY, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=surroundings(home, NO_COLOR="1"),
    ) as client:
        assert client.stderr is not None
        session = client.stderr.readline().split()[1].decode()
        bird = Bird(str(home), session)
        asyncio.run(bird.until(lambda event: kind_of(event.update) == "_prompt"))
        client.kill()
    assert asyncio.run(bird.until(is_idle)).update["reason"] == "end_turn"
    closed = [e for e in bird.events() if e.update.get("state") == "closed"]
    assert [event.by for event in closed] == ["unattended:reject"]
    assert "(run --approve reject)" in closed[0].update["ruled"]
    assert "No user is available" in str(model.asked[-1].body["messages"])
    assert not (tmp_path / "a.txt").exists()


def started(home: Path, cwd: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ROOKERY, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        env=surroundings(home, NO_COLOR="1"),
        stdin=subprocess.DEVNULL,
    )


def told_until(running: subprocess.Popen[str], words: str) -> str:
    assert running.stdout is not None
    seen = ""
    for line in running.stdout:
        seen += line
        if words in line:
            break
    assert words in seen, seen
    return seen


@pytest.mark.long
def test_always_allow_of_an_edit_names_the_path(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """Our own agent's new file, allowed for good, allows that file alone: the editor's verb
    (`create`) is no command, and a git hook is another file."""
    write_settings(home, model)
    (home / "person").mkdir(exist_ok=True)
    made, hook = tmp_path / "a.txt", tmp_path / ".git" / "hooks" / "pre-commit"
    play = json.dumps({"play": [edit(made, "new\n"), {"text": "Done."}]})
    with started(home, tmp_path, "run", "--agent", "rookery", "--approve", "ask", play) as running:
        seen = told_until(running, "Always allow editing exactly this file")
        assert made.name in seen
        [session] = os.listdir(home / "sessions")
        assert "policy remove" in said(home, tmp_path, "answer", session, "--always-allow")
        told_until(running, "Done.")
    [rule] = load(str(home)).rules
    assert (rule.do, rule.kind, rule.exact, rule.command) == ("allow", ("edit",), (), ())
    assert str(made) in rule.path
    play = json.dumps({"play": [edit(hook, "#!/bin/sh\n"), {"text": "Over."}]})
    with started(home, tmp_path, "prompt", "--wait", session, play) as running:
        told_until(running, "Always allow editing exactly this file")
        said(home, tmp_path, "answer", session, "reject")
        told_until(running, "Over.")
    assert made.read_text() == "new\n"
    assert not hook.exists()


@pytest.mark.long
def test_rm_also_deletes_conversations_from_before_a_switch(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """Our own agent takes over from a session that is awake."""
    write_settings(home, model)
    said(home, tmp_path, "run", "--agent", "rookery", "--title", "Gone", "one-of-a-kind")
    said(home, tmp_path, "switch-agent", "Gone", "demo")
    said(home, tmp_path, "prompt", "Gone", "--wait", json.dumps({"play": [{"text": "hi"}]}))
    told = said(home, tmp_path, "switch-agent", "Gone", "rookery", "--model", "scripted", code=2)
    assert "no model 'scripted' is saved" in told
    said(home, tmp_path, "switch-agent", "Gone", "rookery")
    said(home, tmp_path, "prompt", "Gone", "--wait", "one-of-a-kind")
    assert len(os.listdir(home / "conversations")) == 2
    said(home, tmp_path, "switch-agent", "Gone", "demo")
    said(home, tmp_path, "rm", "--yes", "--permanently", "Gone")
    assert os.listdir(home / "conversations") == []
    left = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in left if b"one-of-a-kind" in path.read_bytes()] == []


@pytest.mark.long
def test_overrides_are_never_saved_and_missed_after_a_death(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """Settings: in the session's worker alone. One that is started without them says what it lacks,
    and does not go on with the saved model; with them it goes on where it was."""
    write_settings(home, model)
    key = "sk-of-the-environment"
    given = {"LLM_API_KEY": key, "LLM_MODEL": "openai/over"}
    said(home, tmp_path, "run", "--override-with-envs", "--agent", "rookery", "hello", **given)
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    [session] = os.listdir(home / "sessions")
    said(home, tmp_path, "prompt", "--wait", session, "awake")
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in path.read_bytes()]
    worker = json.loads((home / "sessions" / session / "worker.json").read_text())["pid"]
    os.kill(worker, signal.SIGKILL)
    count = len(model.asked)
    told = said(home, tmp_path, "prompt", "--wait", session, "are you there?", code=1)
    assert "started with --override-with-envs and LLM_MODEL and LLM_API_KEY" in told
    assert "rookery stop SESSION" in told
    assert "Log in" not in told
    assert len(model.asked) == count, "nobody was asked, least of all the saved model"
    said(home, tmp_path, "stop", session)
    told = said(home, tmp_path, "prompt", "--wait", session, "and now?", **given)
    assert "You said: and now?" in told
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    assert "awake" in str(model.asked[-1].body["messages"])


@pytest.mark.long
async def test_shells_and_editors_leave_no_folders_behind(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """Neither where the agent ends as it should, nor where it is killed in mid-command."""
    write_settings(home, model)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    cwd = tmp_path / "work"
    cwd.mkdir()
    sleep = run("echo begun; sleep 3111")
    steps = [edit(cwd / "a.txt", "new\n"), run("echo done"), {"text": "It is written."}]
    more = {"TMPDIR": str(temporary)}
    said(home, cwd, "run", "--agent", "rookery", json.dumps({"play": steps}), **more)
    [session] = os.listdir(home / "sessions")
    assert os.listdir(home / "scratch") != []
    said(home, cwd, "prompt", session, json.dumps({"play": [sleep]}), **more)
    bird = Bird(str(home), session)
    await bird.until(lambda event: "begun" in json.dumps(event.update) and bool(is_call(event)))
    os.kill(bird.agent.pid, signal.SIGKILL)
    await bird.until(lambda event: is_idle(event, 2))
    said(home, cwd, "stop", session, **more)
    await bird.gone(bird.worker)
    assert not (home / "scratch").exists()
    left = [name for name in os.listdir(temporary) if "shell" in name or "editor" in name]
    assert left == []


def is_call(event: Event) -> bool:
    return kind_of(event.update) in ("tool_call_update", "_terminal")


@pytest.mark.long
def test_a_goal_continues_once_its_budget_is_raised(
    home: Path, tmp_path: Path, model: ScriptedModel, agent_home: Path
) -> None:
    """The budget's cancel is not the user's: the rounds go on where they were."""
    warm_up(home, model, agent_home)
    with working(home, *["Not yet"] * 9), judged(home, verdict(0.2, "all of it")):
        words = ("--agent", "rookery", "--budget", "turn=500 tokens", "/goal make it pass")
        told = said(home, tmp_path, "run", *words, code=6)
        assert "Budget reached" in told
        assert "Goal, round 1 of 10" in told
        [session] = os.listdir(home / "sessions")
        [kept] = (home / "conversations").glob("*/session.json")

        def rounds() -> int:
            return int(json.loads(kept.read_text())["goal"]["rounds"])

        before = rounds()
        assert 0 < before < 9
        said(home, tmp_path, "answer", session, "continue")
        awaited(lambda: rounds() > before)
        said(home, tmp_path, "stop", session)
