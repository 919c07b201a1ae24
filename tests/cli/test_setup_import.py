"""`setup import`: an OpenHands set-up is taken over, told piece by piece, and left as it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from rookery.home import config, mcp
from rookery.models import hook_files, profiles
from tests.cli.driving import Result, rookery

TALK = "0123456789abcdef0123456789abcdef"
KEY = "sk-very-secret-1234"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    put(
        tmp_path / "agent_settings.json",
        {
            "llm": {"model": "anthropic/x", "api_key": KEY, "num_retries": 3, "usage_id": "agent"},
            "condenser": {"kind": "LLMSummarizingCondenser", "max_size": 80},
            "tools": [],
            "kind": "Agent",
        },
    )
    put(tmp_path / "profiles/fast.json", {"model": "openai/y", "api_key": "gAAAAABsecret"})
    put(
        tmp_path / "mcp.json",
        {
            "mcpServers": {
                "files": {"command": "mcp-files", "args": ["/tmp"]},
                "web": {"url": "https://x/mcp", "transport": "http", "enabled": False},
            }
        },
    )
    put(tmp_path / "hooks.json", {"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}})
    put(tmp_path / "cli_config.json", {"theme": "x"})
    told = {"source": "user", "llm_message": {"content": [{"text": "Mend the gate\nsoon"}]}}
    talk = tmp_path / "conversations" / TALK
    put(talk / "base_state.json", {"workspace": {"working_dir": "/tmp"}})
    put(talk / "events/event-00000-a.json", "{")
    put(talk / "events/event-00001-b.json", told)
    (talk / "events" / "link.json").symlink_to("/etc/hostname")
    put(tmp_path / "conversations/1/base_state.json", {})
    silent = tmp_path / "conversations" / TALK.replace(TALK[:4], "0000")
    put(silent / "base_state.json", {})
    (silent / "events").mkdir()
    return tmp_path


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def run(theirs: Path, *more: str) -> Result:
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    done = rookery("setup", "import", "--from", str(theirs), *more)
    assert KEY not in done.out + done.err
    assert "Traceback" not in done.err
    assert {path: path.read_bytes() for path in before} == before
    return done


def test_all_of_it_is_taken_and_told(home: Path, theirs: Path) -> None:
    done = run(theirs)
    assert done.code == 0, done.err
    found = profiles.load(str(home))
    assert found.profiles["openhands"].key.reveal() == KEY
    assert found.profiles["openhands"].extras == {"num_retries": 3}
    assert found.default == "openhands"
    assert not found.profiles["fast"].key
    assert "rookery setup --name fast" in done.out  # its key was encrypted
    servers = {server.name: server.enabled for server in mcp.load(str(home))}
    assert servers == {"files": True, "web": False}
    assert list(hook_files.own(str(home))) == ["stop"]
    assert "1 conversation: rookery import --agent rookery" in done.out
    here = home / "conversations" / TALK
    kept = json.loads((here / "session.json").read_text())
    assert (kept["title"], kept["cwd"], kept["prompted"]) == ("Mend the gate", "/tmp", True)
    assert sorted(path.name[:11] for path in (here / "events").iterdir()) == [
        "event-00000",
        "event-00001",
    ]
    assert {path.stat().st_mode & 0o077 for path in (here, here / "base_state.json")} == {0}
    (here / "session.json").write_text("{}")
    assert "skipped: 1 conversation: already here" in run(theirs, "--replace").out
    assert (here / "session.json").read_text() == "{}", "what was continued here stays"
    assert "skipped: cli_config.json" in done.out
    modes = {(home / name).stat().st_mode & 0o777 for name in (profiles.FILE, "hooks.json")}
    assert modes == {0o600}


def test_what_is_there_stays_unless_you_say_so(home: Path, theirs: Path) -> None:
    run(theirs)
    changed = {"llm": {"model": "anthropic/new", "api_key": KEY}}
    put(theirs / "agent_settings.json", changed)
    done = run(theirs)
    assert done.out.count("skipped") == 7
    assert "Nothing new" in done.err
    assert profiles.load(str(home)).profiles["openhands"].model == "anthropic/x"
    assert run(theirs, "--replace").code == 0
    assert profiles.load(str(home)).profiles["openhands"].model == "anthropic/new"


@pytest.mark.parametrize("file", ["agent_settings.json", "mcp.json", "hooks.json"])
def test_one_broken_file_does_not_keep_the_others(home: Path, theirs: Path, file: str) -> None:
    put(theirs / file, "{\n[")
    done = run(theirs)
    assert done.code == 1
    assert f"{file}, line 2" in done.out
    taken = [line for line in done.out.splitlines() if "✓" in line]
    assert len(taken) >= 3, done.out


def test_nothing_there(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENHANDS_PERSISTENCE_DIR", str(tmp_path / "none"))
    done = rookery("setup", "import")
    assert done.code == 2
    assert str(tmp_path / "none") in done.err
    (tmp_path / "none").mkdir()
    assert "Nothing new" in rookery("setup", "import").err


def theirs_with(theirs: Path, condenser: dict[str, Any], cli: dict[str, Any]) -> None:
    llm = {"model": "anthropic/x", "api_key": KEY}
    put(theirs / "agent_settings.json", {"llm": llm, "condenser": condenser, "kind": "Agent"})
    put(theirs / "cli_config.json", cli)


CONDENSER = {
    "kind": "LLMSummarizingCondenser",
    "llm": {"model": "anthropic/x", "api_key": KEY, "usage_id": "condenser"},
    "max_size": 240,
    "keep_first": 2,
    "max_tokens": None,
}
CLI = {
    "default_cells_expanded": True,
    "auto_open_plan_panel": False,
    "critic": {
        "enable_critic": False,
        "enable_iterative_refinement": True,
        "critic_threshold": 0.5,
        "issue_threshold": 0.9,
        "max_refinement_iterations": 7,
    },
}


def test_the_condenser_and_the_critics_thresholds_are_imported(home: Path, theirs: Path) -> None:
    theirs_with(theirs, CONDENSER, CLI)
    (home / "config.toml").write_text("# mine\n[critic]\ntimeout = 60 # short\n")
    done = run(theirs)
    assert done.code == 0, done.err
    found = profiles.load(str(home))
    assert (found.condenser.max_size, found.condenser.keep_first) == (240, 2)
    assert found.critic.enabled is False
    now = config.load(str(home))
    assert now.critic[2:6] == (True, 0.5, 0.9, 7)
    assert (now.interface.cards_expanded, now.interface.plan_opens) == (True, False)
    assert "timeout = 60 # short" in (home / "config.toml").read_text()
    for words in (
        "condenser: when 75 % of the context is used or after 240 events",
        "critic.score_below = 0.5",
        "critic.issue_at",
    ):
        assert words in done.out
    again = run(theirs)
    assert again.out.count(": already set\n") == 8
    assert "✓" not in again.out


def test_import_keeps_settings_made_here_unless_told(home: Path, theirs: Path) -> None:
    theirs_with(theirs, CONDENSER, CLI)
    assert rookery("setup", "condenser", "--max-size", "99").code == 0
    (home / "config.toml").write_text("[critic]\nscore_below = 0.8\n")
    done = run(theirs)
    assert "skipped: condenser: when 75 %" in done.out
    assert "skipped: critic.score_below = 0.5" in done.out
    assert (
        profiles.load(str(home)).condenser.max_size,
        config.load(str(home)).critic.score_below,
    ) == (99, 0.8)
    run(theirs, "--replace")
    assert (
        profiles.load(str(home)).condenser.max_size,
        config.load(str(home)).critic.score_below,
    ) == (240, 0.5)


@pytest.mark.parametrize(
    ("condenser", "cli", "words"),
    [
        ({"kind": "PipelineCondenser", "condensers": []}, {}, "Rookery has no PipelineCondenser"),
        ({**CONDENSER, "max_size": 3}, {}, "max_size"),
        ({**CONDENSER, "max_tokens": 9000}, {}, "condenser.max_tokens"),
        (
            {**CONDENSER, "llm": {"model": "openai/small"}},
            {},
            "condenser's own model (openai/small)",
        ),
        (CONDENSER, {"critic": {"critic_threshold": 7}}, "score_below"),
        (CONDENSER, {"critic": {"critic_threshold": "high"}}, "critic_threshold = high"),
        (CONDENSER, {"critic": {"enable_critic": "yes"}}, "enable_critic"),
        (CONDENSER, {"theme": "x", "critic": {"odd": 1}}, "cli_config.json: odd, theme"),
    ],
)
def test_what_cannot_be_imported_is_reported(
    home: Path, theirs: Path, condenser: dict[str, Any], cli: dict[str, Any], words: str
) -> None:
    theirs_with(theirs, condenser, cli)
    done = run(theirs)
    assert done.code == 0, done.out
    assert any("skipped" in line and words in line for line in done.out.splitlines()), done.out
    assert config.load(str(home)).critic.score_below == 0.6


def test_a_missing_condenser_and_the_critics_older_place_are_read(
    home: Path, theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs_with(theirs, {"kind": "NoOpCondenser"}, {"critic_threshold": 0.4})
    monkeypatch.setenv("OPENHANDS_PERSISTENCE_DIR", str(theirs))
    assert rookery("setup", "import").code == 0
    assert profiles.load(str(home)).condenser.enabled is False
    assert config.load(str(home)).critic.score_below == 0.4
    put(tmp_path / "elsewhere/cli_config.json", {"critic": {"issue_threshold": 0.8}})
    monkeypatch.setenv("PERSISTENCE_DIR", str(tmp_path / "elsewhere"))
    assert "critic.issue_at = 0.8" in rookery("setup", "import").out
