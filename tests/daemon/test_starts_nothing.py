"""A GET starts no agent and no program that a repository, a setting or a request names, and a
daemon with --read-only starts nothing at all, but for Rookery's own git."""

import http.client
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.daemon import upkeep
from rookery.daemon.access.devices import Devices
from rookery.daemon.access.gate import READING
from rookery.daemon.app import build_api
from rookery.daemon.fleet import Fleet
from rookery.daemon.notify.notifier import Notifier
from rookery.daemon.notify.subscriptions import Subscriptions
from tests.client.test_import import play
from tests.client.work_tree.trees import WHO
from tests.client.worktrees.traps import Enemy
from tests.daemon.served import Served, awaited
from tests.daemon.test_routes import WEBSOCKET, Address, found

STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile")
HOOK = """
import sys
def noted(event, given):
    if event in {starts!r}:
        with open({log!r}, "a") as notes:
            notes.write(" ".join([str(given[0]), *map(str, given[1] or ())]) + "\\n")
sys.addaudithook(noted)
"""
"""As `sitecustomize`: what any Python process of the daemon's starts is noted."""
PROGRAMS = (
    *("node", "npm", "npx", "uv", "uvx", "pip", "docker", "podman", "bwrap", "sh", "bash", "ps"),
    *("claude", "codex", "gemini", "opencode", "notify-send", "osascript", "lsof", "systemctl"),
)
ALLOWED = ("/rookery/snapshots/__main__.py",)
"""Compares a snapshot with the files; it starts git, of which the repository's traps tell."""


class Trapped:
    """A home, and a repository, in which whatever can name a program names a trap."""

    def __init__(self, home: Path, place: Path, patch: pytest.MonkeyPatch) -> None:
        self._log = place / "started"
        self.sprung = place / "sprung"
        self.words = ["/bin/sh", "-c", f"echo $0 $* >> {self.sprung}; exec sleep 5", "trap"]
        self._on_path(place / "bin", place / "site", patch)
        self._home = home
        self.enemy = Enemy(place / "shop", place / "notes", "*.txt diff=trap merge=trap\n")

    def _on_path(self, programs: Path, site: Path, patch: pytest.MonkeyPatch) -> None:
        programs.mkdir()
        for name in PROGRAMS:
            program = programs / name
            program.write_text(f"#!/bin/sh\necho {name} $* >> {self.sprung}\nexit 1\n")
            program.chmod(0o755)
        site.mkdir()
        (site / "sitecustomize.py").write_text(HOOK.format(starts=STARTS, log=str(self._log)))
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        patch.setenv("PYTHONPATH", str(site))
        for key, value in WHO.items():
            patch.setenv(key, value)

    def set(self) -> None:
        """From now on, the settings name traps, too."""
        line = f"/bin/sh -c 'echo setting >> {self.sprung}'"
        (self._home / "config.toml").write_text(
            f'default_agent = "trap"\n[agents.trap]\ncommand = {json.dumps(self.words)}\n'
            f"[critic]\ncommand = {json.dumps(line)}\n"
            f'[sandbox]\nengine = "{self.sprung.parent / "bin" / "podman"}"\n'
        )
        server = {"command": self.words[0], "args": self.words[1:]}
        (self._home / "mcp.json").write_text(json.dumps({"mcpServers": {"trap": server}}))
        self.forget()

    def forget(self) -> None:
        self._log.unlink(missing_ok=True)

    @property
    def started(self) -> list[str]:
        """By any process of the daemon's, without git, whose programs are the enemy's traps."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [
            line
            for line in lines
            if os.path.basename(line.split()[0]) != "git"
            and not any(each in line for each in ALLOWED)
        ]

    def check(self) -> None:
        assert self.started == []
        assert not self.sprung.exists(), self.sprung.read_text()
        assert self.enemy.ran == []


@pytest.fixture
def trapped(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trapped:
    return Trapped(home, tmp_path, monkeypatch)


def _addresses(session: str, race: str) -> list[Address]:
    """Every route, about things that are there, where that can be said."""
    known = {
        "session": session,
        "race": race,
        "agent": "trap",
        "kind": "servers",
        "of": "agent",
        "turn": "1",
        "listed": "agents",
        "form": "sandbox",
        "section": "sandbox",
    }

    def filled(path: str) -> str:
        return re.sub(r"{(\w+)}", lambda match: known.get(match[1], "x"), path)

    return sorted({*found(build_api().routes, filled)})


QUERIES = {
    "/api/search": "q=a",
    "/api/events": "topic=fleet",
    "/settings/servers/edit": "name=trap",
}


def _ask(served: Served, each: Address) -> int:
    """The status alone: a stream does not end."""
    link = http.client.HTTPConnection(served.netloc, timeout=120)
    headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
    method = each.method
    if each.method == WEBSOCKET:
        method = "GET"
        headers |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    try:
        query = QUERIES.get(each.path, "")
        body = None if method in READING else b"{}"
        link.request(method, f"{each.path}?{query}" if query else each.path, body, headers)
        return link.getresponse().status
    finally:
        link.close()


def _sessions(served: Served, trapped: Trapped) -> list[Address]:
    """One that has had a turn, and one in a worktree of its own; asleep, as they are found."""
    cwd = trapped.enemy.cwd
    worked = served.create(cwd=cwd, prompt=play({"text": "Done."}))
    served.create(cwd=cwd, worktree="own", race="r1")
    place = f"/api/sessions/{worked}"
    awaited(lambda: served.ask("GET", place).json()["state"] == "idle", 60)
    assert served.ask("POST", f"{place}/commands", {"do": "stop"}).status == 200
    awaited(lambda: not served.ask("GET", place).json()["awake"], 60)
    trapped.set()
    return _addresses(worked, "r1")


@pytest.mark.long
def test_no_get_starts_a_program(serving: Callable[..., Served], trapped: Trapped) -> None:
    served = serving()
    addresses = _sessions(served, trapped)
    reading = [each for each in addresses if each.method in (*READING, WEBSOCKET)]
    statuses = {str(each): _ask(served, each) for each in reading if each.path != "/acp"}
    assert len([status for status in statuses.values() if status == 200]) > 40, statuses
    assert max(statuses.values()) < 500, statuses
    refused = served.ask("GET", "/api/agents/trap/sessions?cwd=/tmp")
    assert (refused.status, refused.json()["error"]) == (409, "starts_agent")
    trapped.check()
    served.stop()
    served = serving(read_only=True)
    trapped.forget()
    for each in addresses:
        if each.path != "/login":
            assert _ask(served, each) < 500, each
    trapped.check()


def test_the_upkeep_of_a_read_only_daemon_starts_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in STARTS else None)
    monkeypatch.setattr(upkeep, "MEMORY", 0)
    (home / "config.toml").write_text('default_agent = "rookery"\n')
    where = str(home)
    notifier = Notifier(where, Subscriptions(where), Devices(where), starts=False)
    upkeep.Upkeep(where, Fleet(where), notifier, read_only=True).round()
    assert started == []
