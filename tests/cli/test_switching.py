"""`switch-agent`, `recap`, `clear`, `rm` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.driving import made, play, rookery
from tests.rigs.player import player

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def jay(home: Path) -> str:
    """An agent with a name of its own."""
    script = home / "jay.json"
    script.write_text(json.dumps({"otherwise": [{"text": "jay heard: $prompt"}]}))
    argv = player(str(script), "--state", str(home / "jay"))
    (home / "config.toml").write_text(f"[agents.jay]\ncommand = {json.dumps(argv)}\n")
    return "jay"


def header(session: str) -> dict[str, object]:
    return dict(json.loads(rookery("show", session, "--json").out)["header"])


def test_a_switch_a_recap_and_the_next_prompt(jay: str) -> None:
    session = made({"text": "The owl is grey."})
    shown = rookery("switch-agent", session, jay, "--dry-run")
    assert (shown.code, "jay has no memory of it." in shown.out) == (0, True)
    assert header(session)["agent"] == "demo"
    done = rookery("switch-agent", session, jay)
    assert done.code == 0
    assert "demo → jay." in done.err
    assert f"rookery recap {session}" in done.err
    told = rookery("recap", session)
    assert told.code == 0
    assert "**Agent:** The owl is grey." in told.out
    assert header(session)["queue"] == [], "nothing is sent by itself"
    again = rookery("prompt", session, "--wait", "-", "Go on.", text=told.out)
    assert "jay heard: Recap of the conversation so far" in again.out
    assert again.out.rstrip().endswith("Go on.")
    shown = rookery("show", session, "--turn", "1").out
    assert "Switched from demo to jay" in shown
    assert f"rookery recap {session} --before" in shown


def test_an_ask_keeps_the_name_of_the_agent_that_asked(jay: str) -> None:
    ask = {"ask": "make", "kind": "execute", "rawInput": {"command": "make"}}
    session = made(ask, {"text": "Made."})
    asked = rookery("show", session, "--all", "--events").events
    names = [each["update"].get("agent") for each in asked if "nonce" in each["update"]]
    assert names == ["demo"], "the event says it"
    assert rookery("switch-agent", session, jay).code == 0
    shown = rookery("show", session, "--all").out
    assert "Demo wants to run" in shown
    assert "jay wants to" not in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo"], "demo is already this session's agent. Others: jay, rookery, claude"),
        (["owl"], "There is no agent 'owl'. Known: jay, rookery, claude"),
        ([], "Name the new agent: one of jay, rookery, demo"),
        (["jay", "--cmd", "x"], "Name the new agent"),
        (["jay", "--model", " "], "the model name is empty"),
        (["--cmd", ""], "the command is empty"),
    ],
)
def test_a_usage_error_is_reported_and_leaves_nothing(
    jay: str, arguments: list[str], words: str
) -> None:
    session = made({"text": "hi"})
    before = rookery("show", session, "--all", "--events").out
    done = rookery("switch-agent", session, *arguments)
    assert done.code == 2
    assert words in done.err
    assert rookery("show", session, "--all", "--events").out == before
    assert header(session)["agent"] == "demo"
    assert jay == "jay"


def test_an_agent_that_is_not_installed_is_refused(jay: str) -> None:
    session = made({"text": "hi"})
    done = rookery("switch-agent", session, "--cmd", "nowhere-to-be-found --acp")
    assert (done.code, "is not installed" in done.err) == (1, True)
    assert header(session)["agent"] == "demo"
    assert jay == "jay"


def test_an_agent_that_rookery_can_install_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words as for `--agent`."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    session = made({"text": "hi"})
    for words in (("switch-agent", session, "qwen"), ("run", "--agent", "qwen", "hi")):
        done = rookery(*words)
        assert done.code == 1
        assert "qwen is not installed" in done.err
        assert "Only for Rookery: rookery agents install qwen" in done.err
    assert header(session)["agent"] == "demo"


def test_setting_the_agent_points_to_switch_agent() -> None:
    session = made({"text": "hi"})
    done = rookery("set", session, "agent", "claude")
    assert done.code == 2
    assert f"rookery switch-agent {session} claude" in done.err


def test_a_rate_limit_names_the_command_that_continues(jay: str) -> None:
    session = made({"text": "hi"})
    limit = rookery("prompt", session, "--wait", play({"rate_limit": "2099-01-01T00:00:00Z"}))
    assert limit.code == 4
    assert f"Continue with another agent: rookery switch-agent {session} AGENT" in limit.err
    assert rookery("switch-agent", session, jay).code == 0
    told = rookery("recap", session).out
    assert "This prompt has not been processed yet:" in told
    assert told.rstrip().endswith(play({"rate_limit": "2099-01-01T00:00:00Z"}))
    assert "failed" not in rookery("ps").out


@pytest.mark.long
def test_recap_before_an_event_and_with_nothing_to_tell() -> None:
    session = rookery("new").out.strip()
    assert "Nothing to recap" in rookery("recap", session).err
    session = made({"text": "one"})
    assert "one" in rookery("recap", session).out
    assert rookery("recap", session, "--before", "1").out == ""
    assert rookery("recap", session, "--before", "0").code == 2
    assert rookery("recap", "nobody").code == 2


@pytest.mark.long
def test_clear_folds_turns_and_show_says_so() -> None:
    session = made({"text": "The owl is grey."})
    done = rookery("clear", session)
    assert (done.code, "Cleared. 1 turn is folded away." in done.err) == (0, True)
    shown = rookery("show", session)
    assert "Cleared" in shown.out
    assert "owl" not in shown.out
    assert "1 earlier turn folded away; --all" in shown.err
    assert "The owl is grey." in rookery("show", session, "--all").out
    assert "The owl is grey." in rookery("show", session, "--turn", "1").out
    assert "The owl is grey." in rookery("recap", session).out
    rookery("prompt", session, "--wait", play({"text": "anew"}))
    shown = rookery("show", session)
    assert ("anew" in shown.out, "1 earlier turn folded away" in shown.err) == (True, True)


@pytest.mark.long
def test_rm_deletes_the_session_at_the_agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_DEBUG", "1")
    session = made({"text": "hi"})
    rookery("stop", session)
    assert list((home / "player").glob("play-*.jsonl"))
    done = rookery("rm", "--yes", "--permanently", session)
    assert done.code == 0
    assert "demo deleted its copy of the session" in done.err
    assert not list((home / "player").glob("play-*.jsonl"))
    assert rookery("show", session).code == 2


@pytest.mark.parametrize("name", ["switch-agent", "recap", "clear"])
def test_help_has_an_example(name: str) -> None:
    done = rookery(name, "--help")
    assert done.code == 0
    assert f"rookery {name} 3f2a" in done.out
