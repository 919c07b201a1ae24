"""The text field for prompts. Nothing written in it is ever lost."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, override

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import TextArea

from rookery.tui import widgets, writing
from rookery.tui.keys import bindings
from rookery.tui.keys.map import keys_of
from rookery.tui.private import Field, KeptLines, PaintedAtOnce, keymap
from rookery.tui.record import Record
from rookery.tui.writing.history import Past

if TYPE_CHECKING:
    from rookery.tui.widgets.suggestions import Suggestion, Suggestions

_MENTION = re.compile(r"(?:^|(?<=\s))@([^\s@]*)$")
_COMMAND = re.compile(r"^/(\S*)$")
_HINT = "Write here"
_ANSWER = "Press a key above, or write"

HIGHEST = 8
"""Lines of the field at most, as the style sheet says, without its border."""


class Composer(Field, PaintedAtOnce, KeptLines, TextArea):
    BINDINGS = bindings.WRITING

    class Submitted(Record):
        """A prompt was submitted, for the session it was written to."""

        text: str
        session: str
        queue: bool = False
        """After the running turn, also where the agent could take it now."""

    class Requested(Record):
        """Something is requested: commands or files for a word; search, editor, attach, detach,
        paste, queue, shell; begin, if nothing is written."""

        what: str
        word: str = ""

    class Dropped(Record):
        """Paths of images were pasted."""

        paths: list[str]
        pasted: str

    class Pasted(Record):
        """A long text was pasted."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            placeholder=_HINT,
        )
        self.past = Past()
        self.has_files = False
        self._dismissed = ""
        """The text whose suggestions were closed."""
        self._styled: object = None
        """The theme of the text area that has the colours of the style sheet."""

    session = ""
    """The session it writes to; empty: a new one."""

    @property
    def popup(self) -> "Suggestions":
        return self.app.screen_stack[0].query_one("#suggestions", widgets.suggestions.Suggestions)

    def invite(self, *, answering: bool) -> None:
        """Show the placeholder; `answering` means that the keys belong to an ask now."""
        hint = _ANSWER if answering else _HINT
        if self.placeholder != hint:
            self.placeholder = hint

    @override
    def sizing(self) -> None:
        """Allow a scrollbar only if the text is higher than the field. Otherwise every new line
        would show one and remove it again, each time with a layout of the whole screen."""
        overflow = "auto" if self.wrapped_document.height > HIGHEST else "hidden"
        if self.styles.overflow_y != overflow:
            self.styles.overflow_y = overflow

    @override
    def made_lines(self, crop: Region) -> list[Strip]:
        """Render the lines without asking the style sheet again: a text area looks up all its
        colours at every key, half of a key's cost."""
        if self._styled is not None and self._styled is self.theme_in_use:
            return ScrollView.render_lines(self, crop)
        self._styled = self.theme_in_use
        return super().made_lines(crop)

    @override
    def notify_style_update(self) -> None:
        self._styled = None
        super().notify_style_update()

    async def _on_key(self, event: events.Key) -> None:
        """Handle our keys before the text area takes them as letters or cursor movements."""
        if self._took(event.key):
            event.stop()
            event.prevent_default()

    @override
    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Treat a letter that is a key elsewhere as text, unless the user moved that action to
        another key."""
        names = bindings.LETTERS.get(key)
        if names and all(name in keymap(self.app) for name in names):
            return False
        return super().check_consume_key(key, character)

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let Ctrl+C clear the text, unless it copies a selection."""
        if action == "clear_text":
            return bool(self.text) and not self.selected_text
        return super().check_action(action, parameters)

    def _took(self, key: str) -> bool:
        if self.popup.is_open and (meant := self._meant(key, bindings.SUGGESTED)):
            self._choose(meant)
            return True
        if not self.text and key in keys_of(self.app, "help.letter").split(","):
            self.app.call_later(self.app.run_action, "app.keys")
            return True
        first = self.has_files and self.cursor_location == (0, 0)
        if first and self._meant(key, bindings.AT_THE_BEGINNING):
            self.post_message(self.Requested("detach"))
            return True
        match self._meant(key, bindings.WRITING):
            case "composer.send":
                self.action_submit()
            case "composer.queue":
                self.action_submit(queue=True)
            case "composer.newline":
                self.action_newline()
            case _:
                return False
        return True

    def _meant(self, key: str, among: Sequence[BindingType]) -> str:
        """Return the name of the binding that a key has, as the user may have changed it, or ""."""
        names = (str(binding.id) for binding in among if isinstance(binding, Binding))
        return next((name for name in names if key in keys_of(self.app, name).split(",")), "")

    # --- sending -------------------------------------------------------------------------------

    def action_submit(self, queue: bool = False) -> None:
        if self.text.strip() or self.has_files:
            self.popup.close()
            self.post_message(self.Submitted(self.take(), self.session, queue))
        elif not self.text and not self.session and not queue:
            self.post_message(self.Requested("begin"))

    def action_clear_text(self) -> None:
        """Clear the text, but keep it among the earlier prompts of this run: nothing written is
        lost."""
        self.popup.close()
        self.past.add(self.take())

    def action_newline(self) -> None:
        self.insert("\n")

    def take(self) -> str:
        """Remove and return the text."""
        text = self.text
        self.clear()
        return text

    def put(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_want(self, what: str) -> None:
        self.post_message(self.Requested(what))

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
        """Return the command or mention at the cursor: its sign and its letters; both are "" if
        there is none."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if row == 0 and (match := _COMMAND.search(before)):
            return "/", match.group(1)
        match = _MENTION.search(before)
        return ("@", match.group(1)) if match else ("", "")

    def on_text_area_changed(self) -> None:
        sign, letters = self.word()
        if not sign or self._dismissed == self.text:
            self.popup.close()
            return
        self._dismissed = ""
        self.post_message(self.Requested("commands" if sign == "/" else "files", letters))

    def offer(self, sign: str, letters: str, suggestions: "list[Suggestion]") -> None:
        """Show suggestions for a word, if it is still there."""
        if self.word() == (sign, letters):
            self.popup.offer(suggestions)

    def action_complete(self) -> None:
        """Complete the word at the cursor; if there is nothing to complete, move the focus."""
        sign, _ = self.word()
        if self.popup.is_open:
            self.accept()
        elif sign:
            self._dismissed = ""
            self.on_text_area_changed()
        else:
            self.screen.focus_next()

    def _choose(self, meant: str) -> None:
        popup = self.popup
        match meant:
            case "suggestion.next":
                popup.move(1)
            case "suggestion.back":
                popup.move(-1)
            case "suggestion.take":
                self.accept()
            case "suggestion.do":
                sign, letters = self.word()
                whole = popup.chosen.insert.strip() == f"{sign}{letters}"
                done = popup.chosen.done
                if not whole:
                    self.accept()
                if done or whole:
                    self.action_submit()
            case "suggestion.close":
                self._dismissed = self.text
                popup.close()

    def accept(self) -> None:
        """Replace the word with the suggestion."""
        sign, letters = self.word()
        if sign and self.popup.is_open:
            row, column = self.cursor_location
            start = (row, column - len(letters) - 1)
            self.replace(self.popup.chosen.insert, start, (row, column))
        self.popup.close()

    # --- pasting -------------------------------------------------------------------------------

    async def _on_paste(self, event: events.Paste) -> None:
        if paths := writing.pasted.image_paths(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Dropped(paths, event.text))
        elif writing.pasted.is_long(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text))
