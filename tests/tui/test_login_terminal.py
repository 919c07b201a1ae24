"""Logging in to an agent from the terminal interface, in a real terminal."""

import json
import sys
from pathlib import Path

import pytest

from tests.tui.tmux import Tmux

AGENT = Path(__file__).parents[1] / "rigs" / "login_agent.py"


@pytest.mark.long
def test_the_card_logs_in_and_the_prompt_goes_on(home: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-P", str(AGENT), str(tmp_path / "state"), "status"]
    home.mkdir(exist_ok=True)
    command = json.dumps(argv)
    (home / "config.toml").write_text(
        f'default_agent = "nest"\n[agents.nest]\ncommand = {command}\n'
    )
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.say("hello")
        screen.wait_for("Authentication required", "1  Log in")
        screen.press("BTab")
        screen.press("1")
        screen.wait_for("How do you want to log in to nest?", "Number")
        screen.press("3", "Enter")
        screen.wait_for("Password:")
        screen.press("worm", "Enter")
        screen.wait_for("Tweet: hello", "● idle")
        screen.press("F7")
        screen.wait_for("logged in: Nest Pro")
        screen.press("Escape")
    calls = Path(f"{tmp_path}/state.calls").read_text()
    assert calls.count("prompt hello") == 1
