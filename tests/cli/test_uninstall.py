"""Whatever Rookery puts into its home, `uninstall` knows it."""

import ast
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from rookery.cli.commands.other.uninstall import OURS, READ, _remove_folder
from rookery.client import warm_agent
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle
from rookery.home import last_choices, paths
from rookery.processes import tree
from tests.cli.driving import made, play, rookery

SOURCE = Path(__file__).resolve().parents[2] / "src"
HOMES = {"home", "self._home", "self.home", "source.home", "paths.home()"}


def names_in_the_home() -> Iterator[tuple[str, str]]:
    """Every name that the source joins to the home, and where."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("path.join"):
                continue
            if len(node.args) > 1 and ast.unparse(node.args[0]) in HOMES:
                yield resolved(file, node.args[1]), f"{file.name}:{node.lineno}"


def resolved(file: Path, given: ast.expr) -> str:
    """What an expression stands for: a word, or a constant of a module."""
    if isinstance(given, ast.Constant):
        return str(given.value)
    module = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    found: object = importlib.import_module(module.removesuffix(".__init__"))
    for part in ast.unparse(given).split("."):
        found = getattr(found, part, "")
    return found if isinstance(found, str) else ""


def test_uninstall_knows_every_file_name_in_the_source() -> None:
    found = [(name, place) for name, place in names_in_the_home() if name]
    assert {name for name, _ in found} >= {"sessions", "config.toml", "choices.json", "slots"}
    known = OURS.keys() | READ
    assert [place for name, place in found if name.partition("/")[0] not in known] == []


@pytest.mark.long
def test_uninstall_knows_everything_that_use_leaves_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = made({"text": "hello"})
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'worker = 1' >\"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    assert rookery("config", "edit").code == 1
    assert rookery("policy", "add", "allow", "--command", "ls*").code == 0
    assert rookery("mcp", "add", "a", "--", "x").code == 0
    assert rookery("set", session, "confirm", "risky").code == 0
    assert rookery("prompt", "--wait", session, play({"text": "more"})).code == 0
    earlier = {"llm": {"model": "openai/x", "api_key": "k"}}  # migrated when it is read
    (home / "agent_settings.json").write_text(json.dumps(earlier))
    assert rookery("setup", "list").code == 0
    (home / last_choices.FILE).write_text("{}")  # an earlier build's
    (home / "config.toml.123.0a1b2c3d.tmp").write_text("cut off")
    (home / "crash.log").write_text("x")
    (home / "worktrees").mkdir()
    running = lifecycle.start(str(home), Options(port=0))
    here = {file.name for file in home.iterdir()}
    assert here >= {"config.lock", "choices.json", "mcp.json", "config.toml.rejected", "places"}
    kept = "agent_settings.json"
    assert here >= {f"{kept}.before-migration", f"{kept}.lock"}, here
    assert json.loads(rookery("uninstall", "--json").out)["leaves"] == []
    assert rookery("uninstall", "--yes").code == 0
    assert not home.exists()
    assert not tree.alive(running["pid"], running["start"])
    home.mkdir()  # for the fixture, which takes it away


HOLDS = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: print("here", flush=True))
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print(os.getpid(), file=lock, flush=True)
print("held", flush=True)
time.sleep(1000)
"""
"""Looks like a warm process."""


def test_a_warm_process_of_a_home_with_a_long_path_ends_and_no_other(tmp_path: Path) -> None:
    """Their sockets are in one directory."""
    own, other = (tmp_path / (letter * 120) for letter in "ab")
    folder = os.path.dirname(warm_agent.socket_path(str(own)))
    assert folder == os.path.dirname(warm_agent.socket_path(str(other)))
    paths.make_socket_dir(warm_agent.socket_path(str(own)))
    with ExitStack() as stack:
        held = []
        for home in (own, other):
            lock = os.path.join(folder, f"warm-{os.urandom(4).hex()}.s.lock")
            stack.callback(os.unlink, lock)
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", HOLDS, lock],
                    env={**os.environ, "ROOKERY_HOME": str(home)},
                    stdout=subprocess.PIPE,
                )
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            held.append(process)
        warm_agent.end(str(own))
        assert held[0].wait(30) == -signal.SIGTERM
        held[1].send_signal(signal.SIGUSR1)
        assert held[1].stdout is not None
        assert held[1].stdout.readline() == b"here\n"
        warm_agent.end(str(other))
        assert held[1].wait(30) == -signal.SIGTERM


def test_a_folder_in_which_a_process_still_writes_is_removed(tmp_path: Path) -> None:
    """As one does that ends: it has a second's work left."""
    folder = tmp_path / "sessions"
    for number in range(300):
        (folder / f"{number}").mkdir(parents=True)
    over = time.monotonic() + 1

    def write() -> None:
        number = 0
        while time.monotonic() < over:
            number = (number + 1) % 300
            with suppress(OSError):
                (folder / f"{number}" / "head").write_text("x")
                (folder / f"{number}" / "head").unlink()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        _remove_folder(str(folder))
        writing.result()
    assert not folder.exists()
