"""Setting things up in a real terminal, with real workers and a model on loopback."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from rookery.home import config
from tests.cli.driving import ROOKERY, play
from tests.tui.tmux import Tmux


@contextmanager
def model() -> Iterator[str]:
    """The address of the scripted model."""
    line = [*ROOKERY, "model", "demo", "--quiet"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.long
@pytest.mark.timeout(400)
def test_the_first_run_sets_up_a_model_in_one_form(home: Path, tmp_path: Path) -> None:
    # Nothing is set up; a process that is kept warm would outlive the test.
    (home / "config.toml").write_text("[agent]\nwarm = false\n")
    terminal = Tmux(home, size=(80, 24), seconds=150.0, cwd=tmp_path)
    with model() as address, terminal as screen:
        screen.wait_for("No model set up", "F6")
        screen.press("F6")
        screen.wait_for("None yet; Enter to set one up")
        screen.press("Enter")
        screen.wait_for("Set up a model", "Provider (required)")
        screen.press("Enter")
        screen.wait_for("LM Studio")
        screen.press("End", "Up", "Enter")
        screen.wait_for("required: another server")
        screen.press("Tab")
        screen.type("scripted")
        screen.press("Tab", "Tab")
        screen.say(address)
        screen.wait_for("Saved scripted (openai/scripted)")
        screen.press("Escape")
        screen.wait_for("Or write a task", "openai/scripted")
        screen.press("F9")
        screen.wait_for("Approvals in the new session")
        screen.press("Home", "Down", "Down", "Enter")
        screen.wait_for("Approve all: approves everything")
        screen.say("Write me a note")
        screen.wait_for("Done: your task is in", "● idle")
    assert (tmp_path / "rookery-demo.md").read_text().startswith("# The task\n\nWrite me a note")
    assert heads(str(home))[0]["confirm"] == "all"
    assert config.load(str(home)).confirm == "every"


@pytest.mark.long
def test_a_switch_puts_the_recap_into_the_composer(home: Path) -> None:
    player = [sys.executable, "-P", "-m", "rookery", "play", "demo"]
    words = ", ".join(f'"{word}"' for word in player)
    (home / "config.toml").write_text(f"[agents.mine]\ncommand = [{words}]\n")
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "the answer is 42"}))
        screen.wait_for("the answer is 42", "● idle")
        screen.press("F7")
        screen.wait_for("current")
        screen.press("Home", "Enter")
        screen.wait_for("Switch from Demo to mine?", "has no memory of it")
        screen.press("y")
        screen.wait_for("Switched from demo to mine", "Recap")
        screen.press("BTab")
        screen.wait_for("Enter open")
        screen.press("1")
        screen.wait_for("The recap is in the composer")
        assert screen.screen().count("the answer is 42") > 1


@pytest.mark.long
def test_the_mode_is_changed_by_its_window_and_named(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "here"}))
        screen.wait_for("here", "● idle")
        screen.press("F9")
        screen.wait_for("Ask always", "current", "Ask when risky")
        screen.press("Down", "Down", "Enter")
        screen.wait_for("Approve all: approves everything")
        screen.press("F9")
        shown = screen.wait_for("Approve all  current")
        assert "Ask always  current" not in shown
        screen.press("Escape")
        screen.wait_without("Ask when risky")
        screen.press("C-n")
        screen.wait_for("new session")
        screen.say("go")  # the demo's edit: the mode was that session's alone
        screen.wait_for("Demo wants to edit greeting.py", "y  allow once")


@pytest.mark.long
def test_settings_changed_in_the_terminal_are_kept(home: Path) -> None:
    (home / "config.toml").write_text("# mine\n")
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.press("F6")
        screen.wait_for("Times and limits")
        screen.press("End", "Enter")
        screen.wait_for("Cancel timeout: time a cancelled agent")
        screen.type("nonsense")
        screen.press("C-s")
        screen.wait_for("must be a number")
        screen.press("C-u")
        screen.wait_without("nonsense")
        screen.type("7")
        screen.press("C-s")
        screen.wait_for("Saved: Cancel timeout.")
        screen.press("Escape")
        screen.wait_without("Times and limits")
        screen.press("F5")
        screen.press("F6")
        screen.wait_for("Light theme · unified diffs")
        screen.press("C-q")
    found = config.load(str(home))
    assert found.policy.cancel_grace == 7
    assert (home / "config.toml").read_text().startswith("# mine\n")
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.press("F6")
        screen.wait_for("Light theme · unified diffs")
