"""Agents by name: the table, a person's own, any command; and which may have to install first."""

import os
import sys
from pathlib import Path

import pytest

from rookery.agents import programs, registry
from rookery.agents.registry import Agent, NotInstalled, UnknownAgent


def test_the_demo_runs_on_the_interpreter_that_runs_now() -> None:
    argv = registry.resolve("demo", {}).argv
    assert argv == [sys.executable, "-P", "-m", "rookery", "play", "demo"]


def test_every_other_agent_says_how_to_install_it() -> None:
    assert all(entry.install for name, entry in registry.AGENTS.items() if name != "demo")


def test_a_persons_own_agent_wins() -> None:
    own = {"claude": ["my-claude"], "mine": ["m", "--acp"]}
    assert registry.resolve("claude", own) == Agent("claude", ["my-claude"])
    assert registry.names(own)[:2] == ["claude", "mine"]
    assert len(set(registry.names(own))) == len(registry.names(own))


def test_an_unknown_name_lists_near_and_known_ones() -> None:
    with pytest.raises(UnknownAgent) as caught:
        registry.resolve("Clade", {})
    assert "Did you mean claude" in str(caught.value)
    assert "codex" in str(caught.value)


def test_a_command_is_named_after_its_program() -> None:
    assert registry.from_command("/opt/bin/my-agent --acp 'a b'") == Agent(
        "my-agent", ["/opt/bin/my-agent", "--acp", "a b"]
    )


@pytest.mark.parametrize("line", ["", "   ", "a 'b"])
def test_a_command_that_is_none(line: str) -> None:
    with pytest.raises(ValueError, match=r"empty|quotation"):
        registry.from_command(line)


def test_a_missing_program_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled) as caught:
        registry.check_installed(registry.resolve("claude", {}), {"PATH": str(tmp_path)}, "/")
    assert "To install it: npm install -g" in str(caught.value)


def test_a_program_is_looked_for_on_the_path_or_from_the_directory(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(NotInstalled):
        registry.check_installed(Agent("a", ["agent"]), {"PATH": str(tmp_path)}, "/")
    program.chmod(0o755)
    registry.check_installed(Agent("a", ["agent"]), {"PATH": str(tmp_path)}, "/")
    registry.check_installed(Agent("a", ["./agent"]), {"PATH": ""}, str(tmp_path))
    registry.check_installed(Agent("a", [str(program)]), {}, os.sep)


@pytest.mark.parametrize(
    ("argv", "cold"),
    [
        (["npx", "-y", "x"], True),
        (["/usr/bin/uvx", "x"], True),
        (["bunx", "x"], True),
        (["pipx", "run", "x"], True),
        (["pipx", "list"], False),
        (["uv", "tool", "run", "x"], True),
        (["claude-agent-acp"], False),
        (registry.resolve("rookery", {}).argv, True),
        ([*registry.resolve("rookery", {}).argv, "--remote", "http://x"], True),
        (["/usr/bin/rookery", "agent", "--container"], True),
        (["rookery", "play", "agent"], False),
        (registry.resolve("demo", {}).argv, False),
        ([], False),
    ],
)
def test_what_may_have_to_install_first(argv: list[str], cold: bool) -> None:
    assert registry.is_cold(argv) is cold


def test_an_agent_that_was_installed_just_now_has_longer_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path))
    assert not registry.starts_slowly(["crow-acp"])
    program = tmp_path / "agents" / "crow" / "bin" / "crow-acp"
    program.parent.mkdir(parents=True)
    program.write_text("")
    assert registry.starts_slowly(["crow-acp", "--acp"])
    assert not registry.starts_slowly(["/usr/bin/crow-acp"])
    monkeypatch.setattr(programs, "FRESH", 0.0)
    assert not registry.starts_slowly(["crow-acp"])
