"""A mode is its session's, the default is set on purpose, and what is said of a mode is true."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import play, rookery

type Json = dict[str, Any]

LS: Json = {"ask": "ls", "kind": "execute", "rawInput": {"command": "ls"}}
LS |= {"allowed": [{"text": "<ran>"}], "rejected": [{"text": "<not>"}]}


def told(text: str) -> str:
    """Without the ends of its lines."""
    return " ".join(text.split())


@pytest.mark.long
def test_a_new_sessions_mode_is_shown(home: Path) -> None:
    assert "Ask always: asks you about every action" in told(rookery("new").err)
    assert rookery("config", "set", "session.confirm", "all").code == 0
    assert "Approve all: approves everything except" in told(rookery("new").err)
    done = rookery("run", "--approve", "ask", play(LS))
    assert (done.code, "<ran>" in done.out) == (0, True)
    assert "Approve all, except destructive commands" in told(done.err)


def test_one_sessions_choice_is_no_default(home: Path) -> None:
    first = rookery("new").out.strip()
    rookery("prompt", first, "--wait", play({"text": "awake"}))
    done = rookery("set", first, "confirm", "all")
    assert "This applies to this session." in told(done.err)
    second = rookery("new", "--agent", "demo").out.strip()
    heads = {each["id"]: each for each in map(json.loads, rookery("ps", "--json").out.splitlines())}
    assert (heads[first]["confirm"], heads[second]["confirm"]) == ("all", "every")
    assert not (home / "choices.json").exists()


def test_choices_json_is_reported_once_and_dropped(home: Path) -> None:
    (home / "choices.json").write_text('{"confirm": "all"}')
    first, second = rookery("new"), rookery("new")
    assert "which you chose in an earlier session" in told(first.err)
    assert "rookery config set session.confirm all" in told(first.err)
    assert "earlier session" not in second.err
    for made in (first, second):
        assert "▸ every" in rookery("set", made.out.strip(), "confirm").out


def test_the_default_mode_is_set_shown_and_reset(home: Path) -> None:
    file = home / "config.toml"
    file.write_text("# mine\n[session]\napprove_all = true\n")
    rows = {line.split()[0]: line for line in rookery("config", "show").out.splitlines()}
    assert '"all"' in rows["session.confirm"]
    assert rows["session.confirm"].endswith("line 3")
    done = rookery("config", "set", "session.confirm", "risky")
    assert 'session.confirm is now "risky". It takes effect at once, for sessions' in told(done.err)
    assert file.read_text() == '# mine\n[session]\nconfirm = "risky"\n'
    assert rookery("config", "set", "session.confirm", "default").code == 0
    assert "confirm" not in file.read_text()
    before = file.read_text()
    for words in (
        ["session.confirm", "never"],
        ["session.approve_all", "true"],
        ["session.confrim", "all"],
        ["worker.cancel_grace", "soon"],
        ["worker.queue_most", "99999999"],
        ["worker.silent_after", "60"],
        ["policy.rules", "all"],
    ):
        assert rookery("config", "set", *words).code in (1, 2)
    assert file.read_text() == before
    assert rookery("config", "set", "worker.cancel_grace", "3").code == 0
    assert rookery("config", "set", "agent.warm", "off").code == 0
    assert "cancel_grace = 3\n" in file.read_text()
    assert "warm = false\n" in file.read_text()


CLAUDE: Json = {
    "agent": {
        "name": "claude-agent-acp",
        "modes": [
            {"id": "default", "name": "Default"},
            {"id": "auto", "name": "Auto"},
            {"id": "acceptEdits", "name": "Accept edits"},
            {"id": "bypassPermissions", "name": "Yolo"},
        ],
    }
}


@pytest.fixture
def claude(home: Path, tmp_path: Path) -> Path:
    """An agent of that name, with its modes."""
    script = tmp_path / "claude.json"
    script.write_text(json.dumps(CLAUDE))
    argv = json.dumps([sys.executable, "-P", "-m", "rookery", "play", str(script)])
    (home / "config.toml").write_text(f"[agents.claude]\ncommand = {argv}\n")
    return home


@pytest.mark.long
def test_every_face_says_that_claude_decides_by_itself(claude: Path) -> None:
    rest = "your rules apply only to what it asks"
    done = rookery("run", "--agent", "claude", "--llm-approve", "--title", "C", play({"text": "x"}))
    assert "claude decides on its own · " in told(done.err)  # before it began
    session = json.loads(rookery("ps", "--json").out)["id"]
    assert "ask when risky" in rookery("ps").out
    assert f"claude decides on its own in its mode auto; {rest}" in told(rookery("show", "C").err)
    for value, mode in (("all", "bypassPermissions"), ("risky", "auto")):
        done = rookery("set", session, "confirm", value)
        assert f"claude decides on its own in its mode {mode}; {rest}" in told(done.err)
        assert "undone" not in done.err
    listed = rookery("set", session, "confirm").out
    assert f"Approve all · claude decides on its own; {rest}" in listed
    rookery("set", session, "mode", "acceptEdits")
    assert f"on its own in its mode acceptEdits; {rest}" in told(rookery("show", "C").err)
    rookery("set", session, "confirm", "every")
    assert "accept" not in rookery("ps").out + rookery("show", "C").err


def test_with_yolo_claude_is_made_to_ask_so_that_rules_hold(claude: Path) -> None:
    """And then nothing else is claimed (decision 0010)."""
    rookery("policy", "add", "deny", "--command", "ls*", "--name", "no-ls")
    done = rookery("run", "--agent", "claude", "--yolo", play(LS))
    assert (done.code, "<not>" in done.out) == (3, True)
    assert "Denied by rule no-ls" in done.err
    assert "Approve all (destructive commands are refused)" in told(done.err)
    assert json.loads(rookery("ps", "--json").out)["mode"] == "default"
