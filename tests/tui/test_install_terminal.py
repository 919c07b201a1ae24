"""In a real terminal: F7 installs an agent where it stands, with the real npm."""

from pathlib import Path

import pytest

from rookery.forms.lists import agents
from tests.cli.driving import play
from tests.npm_registry import serving
from tests.tui.tmux import Tmux


def go_to(screen: Tmux, home: Path, name: str) -> None:
    names = [each.entry.name for each in agents(str(home), str(home))]
    screen.press("Home", *["Down"] * names.index(name))


@pytest.mark.long
def test_an_agent_is_installed_cancelled_and_chosen_where_it_stands(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serving(monkeypatch, tmp_path) as package,
        Tmux(home, size=(100, 50), cwd=tmp_path) as screen,
    ):
        package.clear()
        screen.ready()
        screen.press("F7")
        screen.wait_for("make\u00a0default")
        go_to(screen, home, "claude")
        screen.wait_for("npm install -g @agentclientprotocol/claude-agent-acp")
        screen.press("Enter")
        screen.wait_for("Install claude?", "--prefix")
        assert not (home / "agents").exists(), "it asks first"
        screen.press("Enter")
        screen.wait_for("Installing claude", "npm http fetch GET 200", "cancel")
        assert (home / "agents/claude").exists()
        screen.press("Escape")
        screen.wait_for("Nothing was installed: you cancelled it.", "try\u00a0again")
        assert not (home / "agents").exists()
        package.set()
        screen.press("Enter")
        screen.wait_for("claude is installed.", "Enter uses it here")
        screen.press("Enter")
        screen.wait_without("make\u00a0default")
        screen.say(play({"text": "Hello from npm"}))
        screen.wait_for("Hello from npm")


@pytest.mark.long
def test_what_cannot_be_installed_says_why_and_leaves_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(monkeypatch, tmp_path), Tmux(home, size=(80, 50), cwd=tmp_path) as screen:
        screen.ready()
        screen.press("F7")
        screen.wait_for("make\u00a0default")
        go_to(screen, home, "qwen")
        screen.press("Enter")
        screen.wait_for("Install qwen?")
        screen.press("Enter")
        screen.wait_for("npm error 404", "Nothing was installed", "try\u00a0again")
        assert not (home / "agents").exists()
        screen.press("Escape")
        screen.wait_for("make\u00a0default")
