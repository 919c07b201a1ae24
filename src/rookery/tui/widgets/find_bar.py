"""Find in the transcript: first in the loaded pages, then in older ones."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.transcript.cursor import Transcript


class FindBar(Horizontal, inherit_bindings=False):
    """The line for the search text; hidden until it is opened."""

    BINDINGS = bindings.FIND

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = False
        self._matches: list[str] = []
        self._at = -1
        self._seeking = False
        """Older pages are being loaded for the next match."""

    def compose(self) -> ComposeResult:
        yield Label(" find ", classes="name")
        yield Input(placeholder="Search the transcript", compact=True)
        yield Label("", classes="told", markup=False)

    @property
    def _transcript(self) -> Transcript:
        return self.screen.query_one(Transcript)

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    @property
    def _is_more_above(self) -> bool:
        return self._transcript.window.first > 1

    def open(self) -> None:
        self.display = True
        self.screen.set_focus(self.query_one(Input))  # at once: the next letter is for it
        self.query_one(Input).action_select_all()
        self._find()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self._find()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_move(-1)

    def action_close(self) -> None:
        self.display = self._seeking = False
        self._transcript.mark("")
        self.screen.query_one("#composer").focus()

    def _find(self) -> None:
        """Search, and show the newest match first, since that is what the user has just read."""
        self._transcript.mark(self._typed)
        self._matches, self._seeking = self._transcript.matches(self._typed), False
        self._at = len(self._matches) - 1
        self._show()

    def action_move(self, step: int) -> None:
        at = self._at + step
        if self._typed and 0 <= at < len(self._matches):
            self._at = at
            self._show()
        elif self._typed and at < 0 and self._is_more_above:
            self._seek()

    def _seek(self) -> None:
        self._seeking = True
        self._tell("searching further up … ")
        self._transcript.post_message(Transcript.OlderWanted())

    def loaded(self) -> None:
        """Search again after older pages were loaded."""
        if not self.display:
            return
        before = self._matches[self._at] if 0 <= self._at < len(self._matches) else ""
        self._matches = self._transcript.matches(self._typed)
        self._at = self._matches.index(before) if before in self._matches else len(self._matches)
        if self._seeking and not self._at and self._is_more_above:
            self._seek()
        elif self._seeking:
            self._at, self._seeking = max(0, self._at - 1), False
            self._show()

    def _show(self) -> None:
        self._at = min(self._at, len(self._matches) - 1)
        if not self._typed:
            self._tell("")
        elif self._at >= 0:
            keys = (label(self.app, "find.older"), label(self.app, "find.newer"))
            self._tell(f"{self._at + 1} of {len(self._matches)}  {' '.join(keys)} ")
            self._transcript.reveal_match(self._matches[self._at])
        elif self._is_more_above:
            self._tell("no matches here; Enter to search further up ")
        else:
            self._tell("no matches ")

    def _tell(self, text: str) -> None:
        self.query_one(".told", Label).update(text)
