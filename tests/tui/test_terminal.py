"""The real thing in a real terminal, with real workers."""

import os
import signal
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from rookery.home import paths
from tests.cli.driving import ROOKERY, made, play, rookery
from tests.e2e.house import until
from tests.tui.tmux import Tmux


def only(home: Path) -> dict[str, object]:
    (head,) = heads(str(home))
    return head


def test_the_first_run_leads_to_an_answer_at_once(home: Path) -> None:
    with Tmux(home) as screen:
        screen.wait_for("Rookery", "demo", "F1 lists every key", "new session")
        screen.say("hello")
        screen.wait_for("Rookery's demo agent")


def test_text_typed_during_the_start_is_in_the_composer(home: Path) -> None:
    with Tmux(home) as screen:
        screen.type("early bird")
        screen.wait_for("F1 lists every key", "│ early bird")
        screen.type(" catches")
        screen.wait_for("│ early bird catches")


def test_a_turn_with_an_approval(home: Path, tmp_path: Path) -> None:
    with Tmux(home, cwd=tmp_path) as screen:
        screen.ready()
        screen.say("go")
        screen.wait_for("wants to edit greeting.py", "y  allow once", "needs you")
        screen.type("yes")  # into the composer: it must not answer
        screen.wait_for("│ yes")
        assert only(home)["asks"] == 1
        screen.press("F2")
        screen.press_until("y", "That is how an agent's edit")
        screen.wait_for("That is how an agent's edit looks when you allow it.")
        screen.wait_for("● idle", "4.2k/200k")


@pytest.mark.long
def test_a_cancel_in_mid_command_keeps_the_typed_text(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"command": "echo begun; sleep 600"}))
        screen.wait_for("begun", "running")
        screen.type("next thing")
        screen.press("Escape")
        screen.wait_for("Cancelled", "next thing")
        screen.press("Enter")
        until(lambda: only(home)["turn"] == 2, "what was typed was not sent")


@pytest.mark.long
def test_leaving_stops_nothing_and_coming_back_shows_it(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "begun"}, {"command": "sleep 3; echo late-$((6*7))"}))
        screen.wait_for("begun", "running")
        screen.press("C-q")
        screen.wait_for("Leave?")
        screen.press("Enter")
        shown = screen.wait_for("still running", "rookery open")
        session = str(only(home)["id"])
        assert f"rookery open {session}" in shown
    assert only(home)["awake"]
    with Tmux(home, *ROOKERY, "--last") as screen:
        screen.wait_for("begun", "exit 0", "● idle")


@pytest.mark.long
def test_switching_while_a_session_runs_loses_nothing(home: Path) -> None:
    other = made({"text": "I am the other one."}, title="other")
    with Tmux(home, size=(120, 30)) as screen:
        screen.wait_for("F1 lists", "other")
        screen.say(play({"text": "first part"}, {"wait": 2}, {"text": "second part"}))
        screen.wait_for("first part", "running")
        screen.press("F4")
        screen.wait_for("I am the other one.")
        screen.press("F4")
        screen.wait_for("│   second part", "● idle")
    assert rookery("show", other).out.count("\nI am the other one.\n") == 1


def test_a_killed_worker_is_reported_and_the_next_prompt_works(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "begun"}, {"until": "cancel"}))
        screen.wait_for("begun", "running")
        worker = paths.read_json(os.path.join(_directory(home), paths.WORKER)) or {}
        os.kill(worker["pid"], signal.SIGKILL)
        screen.wait_for("ended during the turn", "failed: the worker ended")
        screen.say(play({"text": "awake again"}))
        screen.wait_for("awake again", "● idle")


def _directory(home: Path) -> str:
    return paths.session_dir(str(home), str(only(home)["id"]))


@pytest.mark.long
def test_a_long_session_opens_at_its_end_and_grows_backward(home: Path) -> None:
    session = made({"text": "the very first words"})
    for number in range(12):
        steps = [{"text": f"turn {number} line {line}\n\n"} for line in range(12)]
        rookery("prompt", session, "--wait", play(*steps))
    with Tmux(home, *ROOKERY, "--resume", session) as screen:
        shown = screen.wait_for("turn 11 line 11")
        assert "the very first words" not in shown
        screen.press("BTab")
        for _ in range(60):
            screen.press("Home")
            if "the very first words" in screen.screen():
                break
        screen.wait_for("the very first words")


@pytest.mark.long
def test_a_queued_prompt_is_seen_and_sent(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "begun"}, {"wait": 3}))
        screen.wait_for("begun", "running")
        screen.say("and then this")
        screen.wait_for("1 queued", "and then this")
        screen.wait_for("I am only the demo agent")
        screen.wait_without("1 queued")


def test_usage_without_a_terminal_says_what_to_do(home: Path) -> None:
    done = rookery("--last")
    assert done.code == 2
    assert "needs a terminal" in done.err
