"""A person's mistake is answered with a sentence that helps; a bug with where its trace is."""

import os
import sqlite3
from pathlib import Path

import pytest

from tests.cli.driving import rookery


def trouble(*arguments: str) -> tuple[int, str]:
    done = rookery(*arguments, text="x")
    assert done.out == ""
    assert "Traceback" not in done.err
    return done.code, done.err


def test_an_unknown_session_lists_near_ones(home: Path) -> None:
    code, said = trouble("show", "x")
    assert code == 2
    assert "no sessions yet" in said
    rookery("new", "--title", "Release notes")
    code, said = trouble("show", "Relaese notes")
    assert code == 2
    assert "Did you mean:" in said
    assert "Release notes" in said


def test_an_ambiguous_name_lists_the_candidates(home: Path) -> None:
    ids = [rookery("new", "--title", f"Notes {n}").out.strip() for n in (1, 2)]
    code, said = trouble("tail", "notes")
    assert code == 2
    assert all(each in said for each in ids)


def test_an_unknown_agent_names_the_known_ones(home: Path) -> None:
    code, said = trouble("run", "--agent", "clade", "x")
    assert code == 2
    assert "Did you mean claude" in said
    assert "--cmd" in said


def test_an_agent_that_is_not_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    code, said = trouble("run", "--agent", "claude", "x")
    assert code == 1
    assert "npm install -g @agentclientprotocol/claude-agent-acp" in said
    assert trouble("run", "--cmd", "no-such-program --acp", "x")[0] == 1
    assert not (home / "sessions").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--cwd", "/nonexistent", "x"],
        ["run", "--root", "/nonexistent", "x"],
        ["run", "--agent", "demo", "--cmd", "demo", "x"],
        ["run", "--cmd", "", "x"],
        ["run", "--cmd", "a 'b", "x"],
        ["run", "--approve", "sometimes", "x"],
        ["rum"],
        ["show"],
        ["--nonsense"],
    ],
    ids=" ".join,
)
def test_usage_errors(home: Path, arguments: list[str]) -> None:
    assert trouble(*arguments)[0] == 2


def test_a_mistake_in_the_configuration_starts_nothing(home: Path) -> None:
    (home / "config.toml").write_text("[worker]\ncancel_grace = true\n")
    code, said = trouble("run", "x")
    assert code == 1
    assert "line 2" in said
    assert "cancel_grace" in said
    assert not (home / "sessions").exists()


def test_a_worker_that_cannot_start_says_why(home: Path) -> None:
    session = rookery("new").out.strip()
    (home / "config.toml").write_text("worker = 1\n")
    code, said = trouble("prompt", session, "x")
    assert code == 1
    assert "did not start" in said
    assert "worker must be a table" in said


def test_a_log_of_a_newer_version(home: Path) -> None:
    session = rookery("new").out.strip()
    with sqlite3.connect(home / "sessions" / session / "log.db") as log:
        log.execute("PRAGMA user_version = 999")
    log.close()
    code, said = trouble("show", session)
    assert code == 1
    assert "newer Rookery" in said


def test_a_home_that_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("ROOKERY_HOME", str(home / "file" / "below"))
    code, said = trouble("new")
    assert code == 1
    assert str(home / "file") in said


def test_a_bug_leaves_a_sentence_and_a_trace(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A damaged installation stands for a bug: a module that cannot be used.
    (tmp_path / "shutil.py").write_text("raise RuntimeError('a bug')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *_python_path()]))
    code, said = trouble("run", "--cmd", "agent", "x")
    assert code == 1
    assert "RuntimeError: a bug" in said
    trace = home / "crash.log"
    assert str(trace) in said
    assert "Traceback" in trace.read_text()
    assert trace.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("ROOKERY_DEBUG", "1")
    assert "Traceback" in rookery("run", "--cmd", "agent", "x").err


def _python_path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
