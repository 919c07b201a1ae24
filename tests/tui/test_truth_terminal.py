"""In a real terminal: `/confirm` before the first prompt, a word on the critic's verdict by keys
that every terminal sends, and what leaving says."""

import json
import re
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from tests.cli.driving import ROOKERY, play, rookery
from tests.tui.tmux import Tmux


def test_confirm_works_before_the_first_prompt(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say("/confirm risky")
        screen.wait_for("The next session: ask when risky.")
        screen.say("/confirm sometimes")
        screen.wait_for("Choose one of: ask always")
        assert heads(str(home)) == [], "no session is made for it"
        screen.say(play({"ask": "Look", "kind": "read", "allowed": [{"text": "it-was-allowed"}]}))
        screen.wait_for("it-was-allowed", "● idle")
        (head,) = heads(str(home))
        assert head["confirm"] == "risky"


@pytest.mark.long
def test_confirm_every_before_the_first_prompt_overrides_the_flag(home: Path) -> None:
    with Tmux(home, *ROOKERY, "--yolo") as screen:
        screen.ready()
        screen.say("/confirm every")
        screen.wait_for("The next session: ask always.")
        screen.say(play({"ask": "Look", "kind": "read"}))
        screen.wait_for("needs you")
    (head,) = heads(str(home))
    assert (head["confirm"], head["asks"]) == ("every", 1)


def judged(home: Path, keys: str = "") -> None:
    (home / "config.toml").write_text(f'[critic]\ncommand = "exit 1"\n{keys}')


def kept(home: Path) -> list[str]:
    return [
        json.loads(line)["critic"]
        for line in (home / "feedback.jsonl").read_text().split("\n")
        if line
    ]


@pytest.mark.long
def test_feedback_on_the_critic_in_a_real_terminal(home: Path) -> None:
    judged(home)
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "hi"}))
        screen.wait_for("Was the critic right?", "Tab, then 1 right", "2 too kind")
        screen.press("Tab")
        screen.wait_for("Enter open")
        screen.press("2")
        screen.wait_for("noted: the critic was too kind")
        screen.press("F1")
        screen.type("critic")
        shown = screen.wait_for("the critic was right", "the critic was too kind")
        assert re.search(r"\b1 +the critic was right", shown)
    assert kept(home) == ["too kind"]


@pytest.mark.long
def test_custom_keys_still_give_feedback_on_the_critic(home: Path) -> None:
    judged(home, '[keys]\n"critic.1" = "f12"\n"critic.2" = "alt+2"\n"critic.3" = "ctrl+l"\n')
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "hi"}))
        shown = screen.wait_for("Was the critic right?", "F12 right")
        assert "Tab, then" not in shown
        screen.press("F12")  # from the composer
        screen.wait_for("noted: the critic was right")
        screen.say(play({"text": "again"}))
        screen.wait_for("again", "Was the critic right?")
        screen.press("C-l")
        screen.wait_for("noted: the critic was too harsh")
    assert kept(home) == ["right", "too harsh"]
    assert rookery("config", "show").code == 0


def test_leaving_says_which_sessions_run_and_which_wait(home: Path) -> None:
    """One works, one asks."""
    rookery("prompt", rookery("new").out.strip(), play({"text": "x"}, {"until": "cancel"}))
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"ask": "Tidy up", "kind": "edit"}))
        screen.wait_for("needs you", "Needs you 1", "Running 1")
        screen.press("C-q")
        screen.wait_for("Leave?", "1 session still running, 1 waiting")
        screen.press("Enter")
        screen.wait_for("1 session still running, 1 waiting for your answer")


def test_leaving_a_waiting_session_does_not_say_it_runs(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"ask": "Tidy up", "kind": "edit"}))
        screen.wait_for("needs you")
        screen.press("C-q")
        screen.wait_for("Leave?", "1 session waiting for your answer")
        screen.press("Enter")
        shown = screen.wait_for("1 session waiting for your answer: rookery asks", "rookery open")
        assert "still running" not in shown
