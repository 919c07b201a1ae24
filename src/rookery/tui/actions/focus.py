"""Who has the keys: typing always writes, Esc goes back one step, and an ask waits until nobody
types."""

from textual.events import Event, Key, Paste, Resize

from rookery.core.json import Json, lenient
from rookery.tui.actions.parts import Parts
from rookery.tui.keys.map import label, learn
from rookery.tui.shell import Start
from rookery.tui.transcript.ask_keys import is_open
from rookery.tui.widgets.session_list import width_for
from rookery.tui.widgets.status import Status

NARROW = 100
"""Narrower screens hide the session list."""

_WRITE = ("enter", "backspace", "delete")


class Focus(Parts):
    def __init__(self, start: Start) -> None:
        super().__init__(start)
        learn()
        self._listed = False
        """A narrow screen shows the session list."""

    async def on_event(self, event: Event) -> None:
        """Terminals paste a line's end as CR, as if Enter were pressed."""
        if isinstance(event, Paste):
            event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        await super().on_event(event)

    def heed(self, event: Key) -> None:
        """A key was pressed: somebody may be typing."""
        if self.focused is self.composer and (event.is_printable or event.key in _WRITE):
            self.asking.typed()

    def on_key(self, event: Key) -> None:
        """A letter that means nothing here is written."""
        elsewhere = len(self.screen_stack) == 1 and self.focused is not self.composer
        letter = event.is_printable and event.character
        if elsewhere and letter and event.key not in self.screen.active_bindings:
            event.stop()
            event.prevent_default()
            self.write(letter)

    def on_paste(self, event: Paste) -> None:
        """What is pasted is written, too."""
        if len(self.screen_stack) == 1 and self.focused is not self.composer:
            self.composer.screen.set_focus(self.composer)
            self.composer._forward_event(Paste(event.text))

    def on_text_area_changed(self) -> None:
        self.show_hint()

    def show_hint(self) -> None:
        focused = self.screen_stack[0].focused
        answering = focused is self.transcript and is_open(self.transcript.current)
        self.below(Status).hint = self._hint(answering, focused is self.composer)
        self.composer.invite(answering=answering)

    def _hint(self, answering: bool, writing: bool) -> str:
        """Where an open ask is answered, what Esc does while a turn runs, and how to come back."""
        header = self.window.header if self.session else None
        if header is not None and self._is_asked(header):
            return "" if answering else f"{label(self, 'ask.next')} to answer"
        if not writing:
            return f"{label(self, 'turn.cancel')} to go back"
        if header is None or header["state"] == "idle":
            return ""
        cancel, send = f"{label(self, 'turn.cancel')} to cancel", label(self, "composer.send")
        if not self.composer.text:
            return cancel
        if not lenient.flag(header, "steers"):
            return f"{send} to queue · {cancel}"
        return f"{send} to steer · {label(self, 'composer.queue')} to queue · {cancel}"

    def _is_asked(self, header: Json) -> bool:
        from rookery.core.asks.kept_asks import unanswered

        return bool(unanswered(header))

    # --- places --------------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        self.fleet.styles.width = width_for(event.size.width)
        if self.screen_stack[0].query("#panel"):  # not there before the first paint
            self.panel.fit(event.size.width)
        self.fleet.set_class(event.size.width < NARROW and not self._listed, "folded")

    def action_sessions(self) -> None:
        """To the list, at once: the next key is for it. If it is hidden, it opens meanwhile."""
        self._listed = True
        self.fleet.set_class(False, "folded")
        self.fleet.screen.set_focus(self.fleet)

    def go_back(self) -> None:
        self.asking.leave()
        self._listed = False
        self.fleet.set_class(self.size.width < NARROW, "folded")
        self.composer.screen.set_focus(self.composer)

    def action_next_ask(self) -> None:
        self.asking.next_ask()
