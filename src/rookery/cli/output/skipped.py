"""Naming the sessions that a command had to leave out; the others are not held up."""

from collections.abc import Sequence

from rookery.cli.output.screen import Screen
from rookery.core.json.safe_text import count

NAMED = 5


def note_skipped(screen: Screen, what: str, sessions: Sequence[str]) -> None:
    """Name the skipped sessions. `what`: the sentence's beginning, such as "Not deleted"."""
    if not sessions:
        return
    names, more = ", ".join(sessions[:NAMED]), len(sessions) - NAMED
    names += f" and {more} more" if more > 0 else ""
    summary = f"{what}: {count(len(sessions), 'session')} that cannot be read ({names})."
    screen.note(f"{summary} For the reason and what to do: rookery doctor")
