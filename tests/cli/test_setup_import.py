"""`setup import`: an OpenHands set-up is taken over, told piece by piece, and left as it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from rookery import mcp
from rookery.agent.settings import hooks, profiles
from tests.cli.driving import Result, rookery

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
    put(tmp_path / "cli_config.json", {})
    put(tmp_path / "conversations/1/base_state.json", {})
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
    assert list(hooks.load(str(home), str(theirs / "nowhere")).config) == ["stop"]
    assert "not taken: conversations" in done.out
    assert "not taken: cli_config.json" in done.out
    modes = {(home / name).stat().st_mode & 0o777 for name in (profiles.FILE, "hooks.json")}
    assert modes == {0o600}


def test_what_is_there_stays_unless_you_say_so(home: Path, theirs: Path) -> None:
    run(theirs)
    changed = {"llm": {"model": "anthropic/new", "api_key": KEY}}
    put(theirs / "agent_settings.json", changed)
    done = run(theirs)
    assert done.out.count("not taken") == 7
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
