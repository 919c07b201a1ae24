"""`agents`, and programs that only a version manager of Node has: listed, checked, and started."""

import os
import sys
from pathlib import Path

import pytest

from rookery.agents import programs, registry
from rookery.cli.checkup import agent_versions
from rookery.processes import tree
from tests.cli.driving import play, rookery


def program(path: Path, text: str = "echo 1.2.3") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with nothing in it, and a PATH with no agent on it."""
    person = home / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", f"{person}/bin:/usr/bin:/bin")
    for name in ("NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ASDF_DATA_DIR", "MISE_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv(programs.NODE, raising=False)
    return person


PLACES = [
    ".nvm/versions/node/v22.1.0/bin",
    ".local/share/fnm/node-versions/v22.1.0/installation/bin",
    ".fnm/aliases/default/bin",
    ".volta/bin",
    ".asdf/installs/nodejs/22.1.0/bin",
    ".local/share/mise/installs/node/22.1.0/bin",
    ".local/share/mise/shims",
]


@pytest.mark.parametrize("place", PLACES)
def test_version_managers_are_looked_into(bare: Path, place: str) -> None:
    found = program(bare / place / "codex-acp")
    agent = registry.resolve("codex", {}, os.environ)
    assert agent.argv == [str(found)]
    registry.check_installed(registry.resolve("codex", {}), os.environ, "/")


def test_path_comes_first_and_is_left_as_a_name(bare: Path) -> None:
    program(bare / ".volta/bin/codex-acp")
    program(bare / "bin/codex-acp")
    assert registry.resolve("codex", {}, os.environ).argv == ["codex-acp"]


def test_the_newest_node_comes_first(bare: Path) -> None:
    for version in ("v8.17.0", "v22.9.1", "v22.10.0"):
        program(bare / f".nvm/versions/node/{version}/bin/gemini")
    argv = registry.resolve("gemini", {}, os.environ).argv
    assert argv == [str(bare / ".nvm/versions/node/v22.10.0/bin/gemini"), "--acp"]


@pytest.mark.parametrize("named", ["n", "n/bin", "n/bin/node"])
def test_a_node_that_a_person_named(bare: Path, named: str) -> None:
    program(bare / "n/bin/node")
    found = program(bare / "n/bin/qwen")
    by_setting = registry.resolve("qwen", {}, os.environ, str(bare / named))
    by_variable = registry.resolve("qwen", {}, {**os.environ, programs.NODE: str(bare / named)})
    assert os.path.samefile(by_setting.argv[0], found)
    assert by_setting == by_variable


def test_a_program_off_path_finds_the_node_beside_it(bare: Path) -> None:
    place = program(bare / ".nvm/versions/node/v22.1.0/bin/gemini").parent
    argv = [str(place / "gemini")]
    assert programs.beside(argv, os.environ) == dict(os.environ)
    program(place / "node")
    assert programs.beside(argv, os.environ)["PATH"].startswith(f"{place}:")


def test_a_worker_starts_what_only_a_version_manager_has(bare: Path) -> None:
    place = bare / ".nvm/versions/node/v22.1.0/bin"
    # As npm installs it: the first line looks for `node` on PATH, and here that plays the demo.
    program(place / "node", f'exec "{sys.executable}" -P -m rookery play demo')
    script = program(place / "claude-agent-acp")
    script.write_text("#!/usr/bin/env node\n")
    done = rookery("run", "--agent", "claude", play({"text": "hello from the manager"}))
    assert done.code == 0, done.err
    assert "hello from the manager" in done.out


def test_the_list_tells_versions_places_and_install_lines(home: Path, bare: Path) -> None:
    program(bare / "bin/codex-acp", "echo codex-acp 2.6.0")
    program(bare / ".volta/bin/gemini", 'echo "0.61.0-nightly (x)"; echo noise >&2')
    (home / "config.toml").write_text(
        f'[agents.mine]\ncommand = ["{sys.executable}", "-m", "mine"]\n'
        '[agents.gone]\ncommand = ["no-such-agent"]\n'
    )
    listed = {each["name"]: each for each in rookery("agents", "--json").events}
    assert list(listed)[:2] == ["mine", "gone"]
    assert listed["codex"]["version"] == "2.6.0"
    assert listed["codex"]["onPath"]
    assert listed["gemini"]["version"] == "0.61.0-nightly"
    assert not listed["gemini"]["onPath"]
    assert listed["mine"]["installed"]
    assert listed["mine"]["version"] is None, "the version of Python is not that of the agent"
    assert not listed["claude"]["installed"]
    assert listed["claude"]["install"].startswith("npm install -g")
    assert listed["rookery"]["version"] == listed["demo"]["version"]
    shown = rookery("agents")
    assert shown.code == 0
    for words in ("included with Rookery", "npm install -g @agentclientprotocol/claude-agent-acp"):
        assert words in shown.out
    assert "~/.volta/bin/gemini (not on PATH)" in shown.out
    assert "no-such-agent not found" in shown.out
    assert rookery("run", "--agent", "help").out.split()[1] == "mine"


def test_a_program_that_never_tells_its_version_is_ended(bare: Path) -> None:
    """In time, with all that it started: the pipe that a child holds is no reason to wait."""
    slow = program(bare / "bin/slow", 'sleep 1000 & echo $! >"$HOME/pid"; wait')
    assert agent_versions.ask(str(slow), os.environ, within=2) == agent_versions.VersionCheck()
    gone = int((bare / "pid").read_text())
    assert not tree.wait_gone([row for row in tree.table() if row.pid == gone], 10)


def test_a_program_that_cannot_be_started_has_no_version(bare: Path) -> None:
    broken = program(bare / "bin/broken")
    broken.write_bytes(b"\x7fELF nonsense")
    assert agent_versions.ask(str(broken), os.environ) == agent_versions.VersionCheck(
        None, "Exec format error"
    )


def test_versions_are_listed_and_agents_that_cannot_start_marked(home: Path, bare: Path) -> None:
    count = bare / "count"
    program(bare / "bin/codex-acp", f'echo asked >>"{count}"; echo codex-acp 2.6.0')
    script = program(bare / "bin/gemini")
    script.write_text("#!/no/such/node\n")
    program(bare / "bin/qwen", 'echo "SyntaxError: Unexpected token" >&2; exit 1')
    program(bare / "bin/opencode", 'echo "unknown option --version" >&2; exit 2')
    package = bare / "lib/node_modules/@github/copilot"
    slow = program(package / "index.js", "sleep 600")
    (package / "package.json").write_text('{"name": "c", "version": "1.2.3", "bin": "index.js"}')
    (bare / "bin/copilot").symlink_to(slow)
    for _ in range(2):
        listed = {each["name"]: each for each in rookery("agents", "--json").events}
    assert count.read_text().split() == ["asked"]
    assert listed["codex"]["version"] == "2.6.0"
    assert (listed["copilot"]["version"], listed["copilot"]["starts"]) == ("1.2.3", True)
    assert (listed["gemini"]["starts"], listed["gemini"]["fault"] != "") == (False, True)
    assert "SyntaxError" in listed["qwen"]["fault"]
    assert listed["opencode"]["starts"]
    assert "qwen does not start: SyntaxError" in rookery("agents").out
    program(bare / "bin/codex-acp", "echo codex-acp 2.7.0 now")
    again = {each["name"]: each for each in rookery("agents", "--json").events}
    assert again["codex"]["version"] == "2.7.0"
