"""Leaving the interface: it stops no session, and says so before and after."""

from typing import NamedTuple

from textual.app import ComposeResult
from textual.widgets import Label

from rookery.core.blocks import Block
from rookery.core.json.safe_text import count
from rookery.render.runs import clean_line
from rookery.render.signs import SIGNS
from rookery.tui.keys import bindings
from rookery.tui.shell import Shell
from rookery.tui.windows.parts.modals import Modal

LISTED = 5
"""Sessions named when leaving."""

MAX_TITLE_LENGTH = 50
"""Characters of a title."""


class Left(NamedTuple):
    """The numbers of sessions that still run and that wait."""

    going: int
    waiting: int
    """For an answer."""


def left_in(app: Shell) -> Left:
    states = {str(block["id"]): str(block["status"]) for block in app.fleet.sessions}
    if app.session and app.window.header.state != "idle":  # the list may be a second old
        states[app.session] = "needs-you" if app.window.open_asks() else "running"
    statuses = list(states.values())
    return Left(statuses.count("running"), statuses.count("needs-you"))


def go_on(left: Left) -> str:
    parts = []
    if left.going:
        parts.append(f"{count(left.going, 'session')} still running")
    if left.waiting:
        who = str(left.waiting) if left.going else count(left.waiting, "session")
        parts.append(f"{who} waiting for your answer")
    return ", ".join(parts)


def farewell(session: str, left: Left, sessions: list[Block]) -> str:
    lines = []
    if any(left):
        how = ". To stop one: rookery stop" if left.going else ": rookery asks"
        lines.append(f"{go_on(left)}{how}")
    lines += named(sessions)
    if session or any(left):
        lines.append(f"To come back: rookery {f'open {session}' if session else ''}".rstrip())
    return "\n".join(lines)


def named(sessions: list[Block]) -> list[str]:
    """Return a line for each session that goes on or waits."""
    going = [block for block in sessions if block["status"] in ("running", "needs-you")]
    lines = [
        f"  {SIGNS[str(block['status'])][0]} {block['id']}  "
        f"{clean_line(str(block['title']))[:MAX_TITLE_LENGTH]}".rstrip()
        for block in going[:LISTED]
    ]
    if len(going) > LISTED:
        lines.append(f"  … and {len(going) - LISTED} more: rookery ps")
    return lines


class LeaveScreen(Modal[bool]):
    """Shown while a turn runs; the key that leaves also confirms."""

    BINDINGS = bindings.LEAVING
    BACK = "stay"
    HEADING = "Leave?"

    def __init__(self, left: Left) -> None:
        super().__init__()
        self._left_behind = left

    def body(self) -> ComposeResult:
        yield Label(f"{go_on(self._left_behind)}. Leaving stops nothing.", markup=False)

    def action_leave_now(self) -> None:
        self.dismiss(True)
