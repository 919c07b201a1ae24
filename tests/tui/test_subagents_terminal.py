"""Sub-agents in a real terminal."""

from pathlib import Path

from tests.cli.driving import play
from tests.tui.tmux import Tmux
from tests.worker.test_subagents import about, child


def test_one_is_cancelled_and_the_turn_goes_on(home: Path) -> None:
    """What it offers is gone with it."""
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.say(
            play(
                about("s1", "running", title="Find the callers", capabilities={"cancel": {}}),
                child("s1", {"text": "I search."}, {"until": "cancel"}),
                about("s1", "idle"),
                {"text": "Without it, then."},
            )
        )
        screen.wait_for("Find the callers", "1  Cancel this sub-agent", "I search.")
        screen.press("Tab")
        screen.wait_for("Enter open")
        screen.press("Up", "1")
        screen.wait_for("Without it, then.", "● idle")
        screen.wait_without("Cancel this sub-agent")
