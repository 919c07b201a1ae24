"""In the terminal interface a worker that hangs is said to, and what to do."""

from pathlib import Path

import pytest

from tests.cli.driving import ROOKERY
from tests.cli.test_hung import awake, stopped
from tests.tui.tmux import Tmux


@pytest.mark.long
def test_the_screen_says_that_a_worker_hangs_and_when_it_recovers(home: Path) -> None:
    """In the status line and in the transcript, at 80×24; without a command having been sent."""
    session = awake()
    with Tmux(home, *ROOKERY, "--resume", session, size=(80, 24)) as screen:
        screen.wait_for("Good morning.", "● idle")
        with stopped(session, home):
            screen.wait_for("✗ hung", "▲ The session's worker does not respond")
            shown = " ".join(screen.screen().split())
            assert f"!rookery stop --now {session}" in shown
            screen.say("hello")  # and what is sent then is kept
        screen.wait_for("▎ hello", "● idle")
        screen.wait_without("does not respond")
