"""A directory that is an enemy: programs and Python modules lie in it under the names of those that
we use, the search paths lead there, and git is told to run what it brings. None of it runs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.client.daemon import local
from tests.cli import driving
from tests.cli.driving import SECONDS, Result, Terminal, play
from tests.client.work_tree.trees import WHO
from tests.client.worktrees.traps import Enemy
from tests.daemon.served import Served
from tests.daemon.test_routes import WEBSOCKET, addresses

PROGRAMS = ("node", "npx", "npm", "uv", "podman", "docker", "tmux", "ps", "env", "prlimit", "tail")
MODULES = ("asyncio", "sqlite3", "typing", "textual", "fastapi", "logging", "socket", "shutil")
AT_START = ("sitecustomize.py", "usercustomize.py", "rookery", "openhands")
"""What Python itself looks for, before any line of ours."""

ROOKERY = (sys.executable, "-I", "-m", "rookery")
"""As the script `rookery` does it, whatever PYTHONPATH says."""


@pytest.fixture
def enemy(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Enemy]:
    found = Enemy(tmp_path / "enemy", tmp_path / "notes", attributes="*.txt diff=trap\n")
    for number, name in enumerate((*PROGRAMS, *(f"{each}.py" for each in MODULES)), 8000):
        found.program(name, number)
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("ROOKERY_HOME", str(home))
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}:")
    monkeypatch.setenv("PYTHONPATH", ".::/nowhere:")
    monkeypatch.chdir(found.place)
    yield found
    assert found.ran == []


def rookery(*words: str, argv: tuple[str, ...] = ROOKERY, text: bytes = b"") -> Result:
    done = subprocess.run(
        [*argv, *words], input=text, capture_output=True, timeout=SECONDS, check=False
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def started(*words: str) -> str:
    """A session that had a turn; its id."""
    done = rookery("run", "--agent", "demo", "--json", *words, play({"text": "done"}))
    assert done.code == 0, done.err
    return str(done.events[0]["update"]["id"])


def test_a_worker_its_agent_and_its_snapshots_run_nothing_of_the_directory(enemy: Enemy) -> None:
    session = started()
    assert rookery("stop", session).code == 0


def test_a_command_imports_nothing_of_the_directory(enemy: Enemy) -> None:
    for name in AT_START:
        (enemy.place / name).rename(enemy.place.with_name(name))
    assert rookery("ps", argv=(sys.executable, "-P", "-m", "rookery")).code == 0
    assert rookery("ps", argv=(sys.executable, "-m", "rookery")).code == 0


@pytest.mark.long
def test_commands_run_nothing_of_the_directory(enemy: Enemy, tmp_path: Path) -> None:
    first, second = started(), started("--worktree=mine")
    (enemy.place / "b.txt").write_text("changed\n")
    third = rookery("fork", second, "--worktree").out.strip()
    rookery("race", "--agents", "demo,demo", play({"text": "done"}))
    lines = f"""
        ps --all
        asks
        show {first}
        diff {first}
        diff {second}
        recap {first}
        search done
        logs {first}
        export {first}
        export {first} --format html
        usage
        doctor
        doctor demo
        agents
        mcp list
        config show
        config trust-git --forget
        policy list
        policy hooks
        race show
        import --list
        import
        rewind {first} 0
        rename {second} other
        merge {second} --squash -m work
        drop {third} --force
        update --check
        completions bash
        prune --older-than 1h --yes
        archive {first}
        remove {first} --yes --force
    """
    for line in filter(None, map(str.strip, lines.splitlines())):
        done = rookery(*line.split())
        assert "Traceback" not in done.err, f"{line}: {done.err}"
        assert enemy.ran == [], line


@pytest.mark.long
def test_an_editors_session_runs_nothing_of_the_directory(enemy: Enemy) -> None:
    about = {"protocolVersion": 1, "clientCapabilities": {}}
    new = {"cwd": enemy.cwd, "mcpServers": []}
    with subprocess.Popen(
        [*ROOKERY, "acp", "--agent", "demo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as bridge:
        assert bridge.stdin is not None
        assert bridge.stdout is not None

        def call(method: str, **params: object) -> dict[str, str]:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            bridge.stdin.write(json.dumps(message).encode() + b"\n")
            bridge.stdin.flush()
            for line in bridge.stdout:
                said = json.loads(line)
                if said.get("id") == 1:
                    return dict(said["result"])
            raise AssertionError("it ended")

        call("initialize", **about)
        session = call("session/new", **new)["sessionId"]
        prompt = [{"type": "text", "text": play({"text": "done"})}]
        assert call("session/prompt", sessionId=session, prompt=prompt)["stopReason"] == "end_turn"
        bridge.stdin.close()


@pytest.mark.long
def test_the_terminal_interface_runs_nothing_of_the_directory(
    enemy: Enemy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "ROOKERY", ROOKERY)
    started("--worktree=mine")
    with Terminal() as terminal:
        terminal.read_until("mine")
        terminal.type("\x11")


@pytest.mark.long
def test_no_read_over_http_runs_anything_of_the_directory(enemy: Enemy, home: Path) -> None:
    session = started("--worktree=mine")
    top = next((home / "worktrees").glob("*/*/b.txt")).parent
    (top / "b.txt").write_text("changed\n")
    done = rookery("serve", "--background", "--port", "0")
    assert done.code == 0, done.err
    record = local.record(str(home))
    assert record is not None
    served = Served(home, record)
    try:
        asked = [each.path for each in addresses() if each.method == "GET"]
        assert WEBSOCKET not in asked
        for path in asked:
            if not path.endswith(("/stream", "/events")):
                served.ask("GET", path.replace("/x", f"/{session}", 1))
                assert enemy.ran == [], path
        plan = served.ask("GET", f"/api/sessions/{session}/merge")
        assert (plan.status, plan.json()["files"]) == (200, 1)
    finally:
        served.stop()
