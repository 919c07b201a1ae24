"""`doctor` against the player, its mischief, and an agent with real ones' mistakes.

The fixture `home` asserts after each test that no process is left.
"""

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import Running, play, rookery
from tests.conftest import belonging_to
from tests.rigs.player import player

FRAGILE = Path(__file__).with_name("fragile_agent.py")
SOUND = {
    *("initialize", "version", "unknown-version", "session/new", "session/load", "session/list"),
    *("relative-path", "unknown-session", "unknown-method", "malformed-line", "invalid-request"),
    *("stdout", "exit"),
}


def scripted(directory: Path, **script: Any) -> str:
    """The command of a player with this script."""
    file = directory / "script.json"
    file.write_text(json.dumps(script))
    return shlex.join(player(str(file), "--state", str(directory / "state")))


def fragile(faults: str = "none", *more: str) -> str:
    return shlex.join([sys.executable, str(FRAGILE), faults, *more])


def card_of(command: str, *more: str, code: int = 0) -> dict[str, Any]:
    done = rookery("doctor", "--json", "--cmd", command, *more)
    assert done.code == code, done.err
    card = json.loads(done.out)
    assert isinstance(card, dict)
    return card


def verdicts(card: dict[str, Any]) -> dict[str, str]:
    return {row["row"]: row["verdict"] for row in card["rows"]}


def words(card: dict[str, Any], row: str) -> str:
    return str(next(each["words"] for each in card["rows"] if each["row"] == row))


# ---------------------------------------------------------------- sound agents


def test_the_demo_passes_every_row(home: Path) -> None:
    done = rookery("doctor", "demo", "--json")
    card = json.loads(done.out)
    assert done.code == 0
    assert card["usable"]
    assert set(verdicts(card).values()) == {"ok", "not told"}
    for row in SOUND:
        assert verdicts(card)[row] == "ok", row
    assert 0 < card["initializeSeconds"] <= card["newSeconds"]
    assert card["processes"] == 1
    assert card["unknownSessionCode"] == -32002
    assert card["protocolVersion"] == 1
    assert card["capabilities"]["loadSession"]


def test_the_card_as_text(home: Path) -> None:
    done = rookery("doctor", "demo")
    assert done.code == 0
    for said in (
        "starts in",
        "private, 1 process",
        "loadSession",
        "invalid-request",
        "not told  permission",
    ):
        assert said in done.out
    assert "0 not ok" in done.err


def test_a_prompt_tells_of_permissions_and_cancels(home: Path, tmp_path: Path) -> None:
    # The first turn is to end: the second prompt of the session is the one that waits.
    steps = [{"ask": "May I?", "rejected": [{"text": "then not"}]}]
    command = scripted(tmp_path, turns=[steps], otherwise=[{"text": "on"}, {"wait": 1000}])
    card = card_of(command, "--prompt", "go")
    assert card["asks"] == 1
    assert card["stopReason"] == "end_turn"
    assert card["cancelSeconds"] < 30
    for row in ("stop-reason", "permission", "rejection", "cancel", "session/load", "replay"):
        assert verdicts(card)[row] == "ok", row


def test_a_cancel_while_it_asks(home: Path) -> None:
    prompt = play({"ask": "May I?", "announce": False, "rejected": [{"text": "no"}]})
    card = card_of(
        shlex.join([sys.executable, "-m", "rookery", "play", "demo"]), "--prompt", prompt
    )
    assert verdicts(card)["cancel-while-asking"] == "ok"
    assert verdicts(card)["permission"] == "not ok", "it asked about a call that it had not told of"


# ---------------------------------------------------------------- mischief


def test_a_cancel_that_ends_as_something_else(home: Path, tmp_path: Path) -> None:
    stubborn = [{"text": "on"}, {"until": "cancel", "then": [{"stop": "end_turn"}]}]
    card = card_of(scripted(tmp_path, turns=[[{"text": "hi"}], stubborn]), "--prompt", "go")
    assert verdicts(card)["cancel"] == "not ok"
    assert "end_turn" in words(card, "cancel")


def test_an_agent_that_dies_at_its_start(home: Path, tmp_path: Path) -> None:
    start = {"stderr": "no key: set SOME_KEY\n", "crash": 7}
    command = scripted(tmp_path, start=start)
    card = card_of(command, code=1)
    assert not card["usable"]
    assert verdicts(card) == {"initialize": "not ok"}
    assert "exit 7" in words(card, "initialize")
    assert "set SOME_KEY" in rookery("doctor", "--cmd", command).out


def test_an_agent_that_never_answers(home: Path, tmp_path: Path) -> None:
    command = scripted(tmp_path, start={"silence": "initialize"})
    card = card_of(command, "--timeout", "2", code=1)
    assert "not answered within 2 s" in words(card, "initialize")


def test_an_agent_that_wants_a_login(home: Path, tmp_path: Path) -> None:
    methods = [{"id": "key", "name": "A key"}]
    agent = {"authMethods": methods, "authRequired": True}
    card = card_of(scripted(tmp_path, agent=agent), code=1)
    assert card["authMethods"] == ["key"]
    assert verdicts(card)["login"] == "ok"
    assert "session/new" not in verdicts(card)


def test_an_agent_that_fails_to_make_a_session(home: Path, tmp_path: Path) -> None:
    error = {"code": -32603, "message": "the database is locked"}
    card = card_of(scripted(tmp_path, start={"new_error": error}), code=1)
    assert "the database is locked" in words(card, "session/new")


def test_an_agent_that_echoes_the_version_and_writes_much(home: Path, tmp_path: Path) -> None:
    start = {"version": "echo", "stderr": "x" * 100_000, "raw": "Hello!\n"}
    card = card_of(scripted(tmp_path, start=start))
    assert verdicts(card)["unknown-version"] == "not ok"
    assert verdicts(card)["stdout"] == "not ok"
    assert card["stderrBytes"] >= 100_000


def test_a_session_that_does_not_come_back(home: Path, tmp_path: Path) -> None:
    error = {"code": -32002, "message": "never heard of it"}
    command = scripted(tmp_path, start={"load_error": error})
    assert verdicts(card_of(command))["session/load"] == "not told", "it may not keep an empty one"
    assert verdicts(card_of(command, "--prompt", "hello"))["session/load"] == "not ok"


def test_what_an_agent_leaves_behind_is_ended(home: Path) -> None:
    prompt = play({"spawn": {"argv": ["sleep", "1000"], "detach": True}}, {"text": "hi"})
    card = card_of(shlex.join(player("demo")), "--prompt", prompt)
    assert verdicts(card)["exit"] == "not ok"
    assert "left behind" in words(card, "exit")
    assert belonging_to(home) == []


@pytest.mark.parametrize(
    ("faults", "row", "said"),
    [
        ("list", "invalid-request", "it ended (exit 0)"),
        ("parse", "malformed-line", "it ended (exit 3)"),
        ("echo", "unknown-version", "echoes"),
        ("lax", "unknown-method", "answered with a result"),
        ("lax", "unknown-session", "answered with a result"),
        ("none", "relative-path", "answered with a result"),
        ("none", "agent-info", "does not report"),
        ("none", "unknown-session", "-32603"),
        ("early", "early-updates", "1 update before"),
        ("modes", "modes", "not one of"),
        ("prints", "stdout", "Welcome"),
        ("stays", "exit", "still running 5 s"),
        ("children", "exit", "1 process left"),
    ],
)
def test_mistakes_of_real_agents(home: Path, faults: str, row: str, said: str) -> None:
    card = card_of(fragile(faults))
    assert verdicts(card)[row] == "not ok"
    assert said in words(card, row)
    assert belonging_to(home) == []


def test_after_a_death_the_rest_is_not_told(home: Path) -> None:
    assert verdicts(card_of(fragile("parse")))["invalid-request"] == "not told"


# ---------------------------------------------------------------- around it


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_breaking_off_leaves_nothing(home: Path, tmp_path: Path, number: int) -> None:
    news = tmp_path / "news"
    os.mkfifo(news)
    with Running("doctor", "--cmd", fragile("deaf,stays,children", str(news))) as running:
        news.read_text()  # waits until the agent has started
        running.signal(number)
        assert running.end().code == 130
    assert belonging_to(home) == []


def test_an_agent_that_is_not_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = rookery("doctor", "claude")
    assert done.code == 1
    assert "npm install -g @agentclientprotocol/claude-agent-acp" in done.err
    assert rookery("doctor", "clade").code == 2


def test_a_command_from_here_is_found_from_there(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "agent"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FRAGILE}" none\n')
    own.chmod(0o755)
    done = rookery("doctor", "--json", "--cmd", "./agent", cwd=tmp_path)
    assert done.code == 0
    assert json.loads(done.out)["usable"]
    own.write_bytes(b"\x7fELF nonsense")
    broken = rookery("doctor", "--cmd", "./agent", cwd=tmp_path)
    assert broken.code == 1
    assert "did not start" in broken.out


def test_a_sound_home(home: Path) -> None:
    done = rookery("doctor")
    assert done.code == 0
    assert [line[12:].split()[0] for line in done.out.splitlines()[:6]] == [
        *("python", "disk", "home", "settings", "model", "agent")
    ]
    assert "included with Rookery" in done.out
    assert [path.name for path in home.iterdir()] == [], "looking leaves no trace"


def test_a_home_with_a_mistake_in_its_settings(home: Path) -> None:
    (home / "config.toml").write_text("\n[worker]\nstop_grase = 1\n")
    done = rookery("doctor", "--json")
    found = json.loads(done.out)
    assert done.code == 1
    assert not found["sound"]
    assert "line 3" in words(found, "settings")


def test_a_home_that_cannot_be_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("ROOKERY_HOME", str(home / "file" / "below"))
    done = rookery("doctor", "--json")
    assert done.code == 1
    assert verdicts(json.loads(done.out))["home"] == "not ok"


def test_options_of_an_agent_need_one(home: Path) -> None:
    assert rookery("doctor", "--prompt", "hi").code == 2
    assert rookery("doctor", "--cmd", "").code == 2


# ---------------------------------------------------------------- right about what it says


def test_the_unknown_session_has_an_id_in_the_agents_own_form() -> None:
    from uuid import UUID

    from rookery.cli.checkup.examine import unlike

    made = "0b7c29f4-5bd1-4a0e-9c63-1f00aa99ffee"
    assert unlike(made) != made
    assert UUID(unlike(made)).version == 4
    assert unlike("ses_9zZf") != "ses_9zZf"
    assert len(unlike("ses_9zZf")) == 8


def test_before_a_login_the_rest_is_not_tested(home: Path) -> None:
    agent = Path(__file__).parents[1] / "worker" / "vendor_agent.py"
    line = shlex.join([sys.executable, str(agent), "claude-agent-acp", "NO_SUCH_KEY"])
    card = card_of(line, code=1)
    assert verdicts(card)["login"] == "ok"
    assert verdicts(card)["relative-path"] == verdicts(card)["unknown-session"] == "not told"


def test_permissions_are_tested_in_the_mode_that_sessions_get(home: Path, tmp_path: Path) -> None:
    modes = [{"id": "agent", "name": "Agent"}, {"id": "read-only", "name": "Ask"}]
    agent = {"name": "codex-acp", "modes": modes}
    line = scripted(tmp_path, agent=agent)
    card = card_of(line, "--prompt", play({"ask": "Run it", "kind": "execute"}))
    assert card["mode"] == "read-only"
    assert verdicts(card)["permission"] == "ok"
    assert list((tmp_path / "state").glob("play-*.jsonl")) == []


def test_sessions_left_in_the_agents_list_are_reported(home: Path, tmp_path: Path) -> None:
    capabilities = {"sessionCapabilities": {"delete": None}}
    card = card_of(scripted(tmp_path, agent={"capabilities": capabilities}))
    assert "offers no session/delete" in words(card, "session/delete")
