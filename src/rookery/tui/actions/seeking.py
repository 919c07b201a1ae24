"""Jumping to an event of a session: older pages are loaded until its block is there."""

from typing import NamedTuple

from rookery.client.reading import block_at
from rookery.core.refusals import Refused
from rookery.tui.shell import Shell


class Place(NamedTuple):
    session: str
    seq: int
    query: str = ""
    """What was looked for."""
    block: str = ""


class Seeking:
    def __init__(self, app: Shell) -> None:
        self._app = app
        self._place: Place | None = None

    def begin(self, place: Place) -> None:
        """Begin to look for a place in the session that is shown, or about to be."""
        reader = self._app.reader

        def read() -> str:
            try:
                with reader.rookery.history(place.session) as log:
                    return block_at(log, place.seq) if place.seq <= log.last_seq() else ""
            except Refused:
                return ""

        def show(block: str) -> None:
            if block:
                self._place = place._replace(block=block)
                self.look()
            else:
                self._tell(f"Nothing to show at event {place.seq}.")

        self._app.reader.fetch(read, show)

    def look(self) -> None:
        """Look again, after pages were loaded."""
        place, window = self._place, self._app.window
        if place is None or window.header.id != place.session:
            return
        if window.first > max(1, place.seq):
            self._app.reader.older(place.session, window.first, place.seq)
            return
        self._place = None
        transcript = self._app.transcript
        transcript.focus()
        transcript.call_after_refresh(self._show, place)

    def _show(self, place: Place) -> None:
        if not self._app.transcript.show_place(place.block, place.query):
            self._tell("That part of the conversation was cleared and is no longer shown.")

    def _tell(self, text: str) -> None:
        self._app.notify(text, severity="warning", markup=False)
