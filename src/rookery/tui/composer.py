"""Where a person writes: Enter sends, a newline has keys of its own. Nothing written is ever
lost."""

import re
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from rookery.tui.writing.history import Past
from rookery.tui.writing.suggestions import Suggestion, Suggestions

_MENTION = re.compile(r"(?:^|(?<=\s))@([^\s@]*)$")
_COMMAND = re.compile(r"^/(\S*)$")


class Composer(TextArea):
    """Several lines. Others add to it by answering its messages, and by `insert`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "send", priority=False, id="composer.send"),
        Binding("shift+enter,ctrl+j", "newline", "newline", show=False, id="composer.newline"),
        Binding("up", "older", "earlier prompt, on the first line", show=False, id="past.older"),
        Binding("down", "newer", "later prompt, on the last line", show=False, id="past.newer"),
        Binding("ctrl+r", "want('search')", "search", show=False, id="past.search"),
        Binding("ctrl+g", "want('editor')", "editor", show=False, id="composer.editor"),
        Binding("ctrl+o", "want('attach')", "attach", show=False, id="composer.attach"),
        Binding("ctrl+t", "want('queue')", "what waits", show=False, id="queue.focus"),
        Binding("tab", "complete", "complete / and @", show=False, id="composer.complete"),
    ]

    class Submitted(Message):
        """A prompt is complete, for the session that it was written to."""

        def __init__(self, text: str, session: str) -> None:
            super().__init__()
            self.text = text
            self.session = session

    class Wanted(Message):
        """Something that the composer does not do by itself: search, editor, attach, queue,
        detach, or the files that fit to a word."""

        def __init__(self, what: str, word: str = "") -> None:
            super().__init__()
            self.what = what
            self.word = word

    class Dropped(Message):
        """Something was pasted that looks like the path of an image."""

        def __init__(self, path: str, pasted: str) -> None:
            super().__init__()
            self.path = path
            self.pasted = pasted

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            placeholder="Write here. Enter sends. / commands, @ files, ! shell",
        )
        self.past = Past()
        self.has_files = False
        self._dismissed = ""
        """The word whose suggestions were closed."""

    session = ""
    """Whom it writes to; empty: a new session."""

    @property
    def popup(self) -> Suggestions:
        return self.app.screen_stack[0].query_one("#suggestions", Suggestions)

    async def _on_key(self, event: events.Key) -> None:
        """The text area would take these keys as letters, or as moves."""
        if self._took(event.key):
            event.stop()
            event.prevent_default()

    def _took(self, key: str) -> bool:
        if self.popup.is_open and self._chose(key):
            return True
        match self._meant(key):
            case "composer.send":
                self.action_submit()
            case "composer.newline":
                self.action_newline()
            case _ if key == "backspace" and self.has_files and self.cursor_location == (0, 0):
                self.post_message(self.Wanted("detach"))
            case _:
                return False
        return True

    def _meant(self, key: str) -> str:
        """What a key is for, also where a person chose another one for it."""
        chosen = self.app._keymap
        for binding in self.BINDINGS:
            if not isinstance(binding, Binding) or not binding.id:
                continue
            if key in chosen.get(binding.id, binding.key).split(","):
                return binding.id
        return ""

    # --- sending -------------------------------------------------------------------------------

    def action_submit(self) -> None:
        if self.text.strip() or self.has_files:
            self.popup.close()
            self.post_message(self.Submitted(self.take(), self.session))

    def action_newline(self) -> None:
        self.insert("\n")

    def take(self) -> str:
        """The text, which is then gone from here."""
        text = self.text
        self.clear()
        return text

    def put(self, text: str) -> None:
        """Another text, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_want(self, what: str) -> None:
        self.post_message(self.Wanted(what))

    # --- the past ------------------------------------------------------------------------------

    def action_older(self) -> None:
        if self.cursor_at_first_line:
            self._recall(self.past.older(self.text))
        else:
            self.action_cursor_up()

    def action_newer(self) -> None:
        if self.cursor_at_last_line:
            self._recall(self.past.newer())
        else:
            self.action_cursor_down()

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._dismissed = text
            self.put(text)

    # --- completion ----------------------------------------------------------------------------

    def word(self) -> tuple[str, str]:
        """What is being typed at the cursor: its sign and its letters; nothing of both where it is
        plain text."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if row == 0 and (found := _COMMAND.search(before)):
            return "/", found.group(1)
        found = _MENTION.search(before)
        return ("@", found.group(1)) if found else ("", "")

    def on_text_area_changed(self) -> None:
        sign, letters = self.word()
        if not sign or self._dismissed == self.text:
            self.popup.close()
            return
        self._dismissed = ""
        self.post_message(self.Wanted("commands" if sign == "/" else "files", letters))

    def offer(self, sign: str, letters: str, found: list[Suggestion]) -> None:
        """What was found for a word, if that still stands there."""
        if self.word() == (sign, letters):
            self.popup.offer(found)

    def action_complete(self) -> None:
        self._chose("tab")

    def _chose(self, key: str) -> bool:
        popup = self.popup
        match key:
            case "up" | "down" | "ctrl+p" | "ctrl+n":
                popup.move(1 if key in ("down", "ctrl+n") else -1)
            case "tab":
                self.accept()
            case "enter":
                sign, letters = self.word()
                whole = popup.chosen.insert.strip() == f"{sign}{letters}"
                done = popup.chosen.done
                if not whole:
                    self.accept()
                if done or whole:
                    self.action_submit()
            case "escape":
                self._dismissed = self.text
                popup.close()
            case _:
                return False
        return True

    def accept(self) -> None:
        """The suggestion takes the place of the word."""
        sign, letters = self.word()
        if sign and self.popup.is_open:
            row, column = self.cursor_location
            start = (row, column - len(letters) - 1)
            self.replace(self.popup.chosen.insert, start, (row, column))
        self.popup.close()

    # --- pasting -------------------------------------------------------------------------------

    async def _on_paste(self, event: events.Paste) -> None:
        from rookery.tui.writing.dropped import image_path

        if path := image_path(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Dropped(path, event.text))
