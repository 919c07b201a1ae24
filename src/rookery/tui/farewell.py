"""Leaving: it stops nothing, and that is said before and after."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Label

from rookery.tui import bindings
from rookery.tui.modals import Modal, keys_line
from rookery.tui.shell import Shell


def running_in(app: Shell) -> set[str]:
    """The sessions that go on when nobody looks."""
    busy = ("running", "needs-you")
    running = {str(block["id"]) for block in app.fleet.sessions if block["status"] in busy}
    if app.session and app.window.header["state"] != "idle":
        running.add(app.session)  # the list may be a second old
    return running


def go_on(running: int) -> str:
    return f"{running} {'session goes' if running == 1 else 'sessions go'} on without you"


def farewell(session: str, running: int) -> str:
    words = []
    if running:
        words.append(f"{go_on(running)}; rookery stop ends one.")
    if session:
        words.append(f"Back to this one: rookery --resume {session}")
    return "\n".join(words)


class LeaveScreen(Modal[bool]):
    """Asked where a turn runs; the key that leaves says yes, too."""

    BINDINGS: ClassVar[list[BindingType]] = bindings.LEAVING
    BACK = "stay"

    def __init__(self, running: int) -> None:
        super().__init__()
        self._going = running

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label("Leave?", classes="title")
            yield Label(f"{go_on(self._going)}; nothing is stopped.", markup=False)
            yield Label(keys_line(self), classes="keys")

    def action_leave_now(self) -> None:
        self.dismiss(True)
