"""After a log-in, and for each agent its own environment: from a terminal, with real processes."""

import json
import os
import shlex
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.driving import Result, rookery

pytestmark = pytest.mark.usefixtures("home")

AGENT = Path(__file__).parents[1] / "worker" / "vendor_agent.py"
KEY = "VENDOR_API_KEY"


def command(name: str, key: str = "") -> list[str]:
    return [sys.executable, "-P", str(AGENT), name, *([key] if key else [])]


def config(text: str) -> None:
    home = Path(os.environ["ROOKERY_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text)


def made(agent: str, words: str, **environment: str) -> tuple[str, Result]:
    """A session with one turn; its id, and what was said."""
    done = rookery("run", "--agent", agent, "--json", words, **environment)
    return str(done.events[0]["update"]["id"]), done


def said(session: str) -> str:
    return rookery("show", session).out


def test_an_exported_key_reaches_the_agent_with_the_next_prompt() -> None:
    config(f"[agents.work]\ncommand = {json.dumps(command('claude-agent-acp', KEY))}\n")
    session, first = made("work", "env PATH")
    assert first.code == 1
    shown = " ".join(said(session).split())
    assert "Authentication required: no key" in shown
    assert f"API key: export {KEY}" in shown
    assert f"Log in: run {shlex.join(command('claude-agent-acp', KEY))} --login"[:60] in shown
    again = rookery("prompt", session, "--wait", f"env {KEY}", **{KEY: "s3cret"})
    assert (again.code, "s3cret" in again.out) == (0, True)
    assert f"this terminal's environment: {KEY} is new." in again.err
    log = rookery("show", session, "--all", "--events").out
    assert f"The agent now has your terminal's environment: {KEY} is new." in log
    # A running agent keeps what it has until a restart, which takes the terminal's.
    other = rookery("prompt", session, "--wait", f"env {KEY}", **{KEY: "0ther"})
    assert "s3cret" in other.out
    told = rookery("restart", session, **{KEY: "0ther"})
    assert f"{KEY} has changed." in told.err
    assert "0ther" not in told.err
    assert "0ther" in rookery("prompt", session, "--wait", f"env {KEY}", **{KEY: "third"}).out


def test_an_agent_may_have_variables_and_mcp_servers_of_its_own() -> None:
    agent = json.dumps(command("swival"))
    plain = json.dumps(command("somebody"))
    config(
        f"[agents.bare]\ncommand = {agent}\nenv = {{ {KEY} = 'mine' }}\n"
        f"[agents.given]\ncommand = {agent}\nmcp = ['tracker']\n"
        f"[agents.every]\ncommand = {plain}\n"
        f"[agents.none]\ncommand = {plain}\nmcp = false\n"
    )
    server = {"command": "true", "args": []}
    servers = {"mcpServers": {"tracker": server, "other": server}}
    Path(os.environ["ROOKERY_HOME"], "mcp.json").write_text(json.dumps(servers))
    bare, first = made("bare", f"env {KEY}", **{KEY: "the session's"})
    assert "mine" in said(bare)
    assert first.code == 0
    for name, wanted in (
        ("given", "tracker"),
        ("every", "tracker other"),
        ("none", "none"),
    ):
        session, _ = made(name, "servers")
        assert wanted in said(session).split("\n\n")[-1], name
    shown = rookery("config", "show").out
    assert "agents.bare.env" in shown
    assert "mine" not in shown


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("env = 1", "agents.a.env must be a table of strings"),
        ("env = { A = 1 }", "agents.a.env must be a table of strings"),
        ("mcp = 'x'", "agents.a.mcp must be true, false, or a list"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(line: str, words: str) -> None:
    config(f"[agents.a]\n{line}\n")
    done = rookery("agents")
    assert done.code == 1
    assert f"line 2: {words}" in done.err


def test_a_switch_finds_programs_on_the_callers_path(tmp_path: Path) -> None:
    session, _ = made("demo", "hello")
    program = tmp_path / "codex-acp"
    program.write_text(f"#!/bin/sh\nexec {shlex.join(command('codex-acp'))}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    missing = rookery("switch-agent", session, "codex")
    assert (missing.code, "codex is not installed" in missing.err) == (1, True)
    switched = rookery("switch-agent", session, "codex", PATH=path)
    assert switched.code == 0, switched.err
    assert "PATH has changed" in switched.err
    assert "hello codex" in rookery("prompt", session, "--wait", "hello codex", PATH=path).out
