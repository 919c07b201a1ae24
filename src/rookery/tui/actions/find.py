"""Find in the transcript: through what is loaded, then through what is older."""

from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.widgets.find_bar import FindBar


class Find:
    def __init__(self, app: Shell) -> None:
        self._app = app
        self._found: list[str] = []
        self._at = -1
        self._seeking = False
        """Older pages are being loaded for the next match."""

    @property
    def _bar(self) -> FindBar:
        return self._app.below(FindBar)

    def open(self) -> None:
        self._bar.open()

    def change(self, words: str) -> None:
        """The newest match first: it is what one has just read."""
        transcript = self._app.transcript
        transcript.mark(words)
        self._found, self._seeking = transcript.matches(words), False
        self._at = len(self._found) - 1
        self._show()

    def move(self, step: int) -> None:
        if not self._bar.words:
            return
        at = self._at + step
        if 0 <= at < len(self._found):
            self._at = at
            self._show()
        elif at < 0 and self._app.window.first > 1:
            self._seek()

    def _seek(self) -> None:
        self._seeking = True
        self._bar.tell("looking further up … ")
        app = self._app
        app.reader.older(app.session, app.window.first)

    def loaded(self) -> None:
        """Older pages came."""
        if not self._bar.display:
            return
        before = self._found[self._at] if 0 <= self._at < len(self._found) else ""
        self._found = self._app.transcript.matches(self._bar.words)
        at = self._found.index(before) if before in self._found else len(self._found)
        self._at = at
        if not self._seeking:
            return
        if at > 0:
            self._at, self._seeking = at - 1, False
            self._show()
        elif self._app.window.first > 1:
            self._seek()
        else:
            self._seeking = False
            self._show()

    def _show(self) -> None:
        bar, transcript = self._bar, self._app.transcript
        if not bar.words:
            bar.tell("")
            return
        self._at = min(self._at, len(self._found) - 1)
        if self._at < 0:
            more = self._app.window.first > 1
            bar.tell("not found here; Enter looks further up " if more else "not found ")
            return
        keys = (label(self._app, "find.older"), label(self._app, "find.newer"))
        bar.tell(f"{self._at + 1} of {len(self._found)}  {' '.join(keys)} ")
        transcript.reveal_match(self._found[self._at])

    def close(self) -> None:
        self._seeking = False
        self._app.transcript.mark("")
        self._app.composer.focus()
