"""What a session's agent wrote to stderr: its last lines."""

import os
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Label

from rookery.home import paths
from rookery.tui.keys import bindings
from rookery.tui.look.colours import printed
from rookery.tui.look.palette import look_of
from rookery.tui.look.runs import Line, fold
from rookery.tui.windows.ask import Whole
from rookery.tui.windows.parts.modals import Modal, keys_line

MOST = 64 * 1024
"""Bytes of its end that are shown."""


class LogScreen(Modal[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings.WHOLE

    def __init__(self, session: str, agent: str) -> None:
        super().__init__()
        self._session, self._agent = session, agent

    def compose(self) -> ComposeResult:
        with Vertical(classes="window tall wide whole"):
            yield Label(f"Log of {self._agent}", classes="title", markup=False)
            yield Whole()
            yield Label(keys_line(self), classes="keys")

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._load)

    def _load(self) -> None:
        home, session = self.home, self._session
        self.fetch(lambda: last_words(home, session), self._show)

    def _show(self, text: str) -> None:
        shown, look = self.query_one(Whole), look_of(self.app.theme)
        width = max(1, shown.scrollable_content_region.width - 1)
        lines: list[Line] = [
            row for line in printed(text or "The log is empty.", look) for row in fold(line, width)
        ]
        shown.show(lines)
        self.call_after_refresh(self.action_last)

    def action_move(self, lines: int) -> None:
        self.query_one(Whole).scroll_relative(y=lines, animate=False, immediate=True)

    def action_page_up(self) -> None:
        self.action_move(1 - self.query_one(Whole).size.height)

    def action_page_down(self) -> None:
        self.action_move(self.query_one(Whole).size.height - 1)

    def action_first(self) -> None:
        self.query_one(Whole).scroll_home(animate=False, immediate=True)

    def action_last(self) -> None:
        self.query_one(Whole).scroll_end(animate=False, immediate=True)


def last_words(home: str, session: str) -> str:
    path = os.path.join(paths.session_dir(home, session), paths.AGENT_LOG)
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MOST))
            return file.read().decode("utf-8", "replace").strip("\n")
    except OSError:
        return ""
