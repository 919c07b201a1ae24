"""Keyboard focus: typing always writes, Esc goes back one step, and an ask waits until nobody
types."""

from textual.events import Event, Key, Paste, Resize

from rookery import render
from rookery.tui import widgets
from rookery.tui.actions.parts import Parts
from rookery.tui.keys.map import NO_KEY, label, shown
from rookery.tui.private import learn
from rookery.tui.shell import Start
from rookery.tui.transcript.ask_keys import is_open
from rookery.tui.widgets.session_list import width_for
from rookery.tui.widgets.status import Status

NARROW = 100
"""Narrower screens hide the session list."""

KEYS = 3
"""At the bottom of the screen."""
ANSWERING = (*("ask.confirm", "ask.allow", "ask.fill", "ask.deny", "ask.decline", "ask.more"),)
PARTS = (
    *("fleet.open", "block.open", "queue.edit", "panel.open"),
    *("find.older", "find.newer", "find.close"),
)
"""The keys of each part that are shown while it has the focus."""

_WRITE = ("enter", "backspace", "delete")


class Focus(Parts):
    def __init__(self, start: Start) -> None:
        super().__init__(start)
        learn()
        self._listed = False
        """A narrow screen shows the session list."""

    async def on_event(self, event: Event) -> None:
        """Normalise line ends: terminals paste them as CR, as if Enter were pressed."""
        if isinstance(event, Paste):
            event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        await super().on_event(event)

    def heed(self, event: Key) -> None:
        """Note a key that was pressed: somebody may be typing."""
        if self.focused is self.composer and (event.is_printable or event.key in _WRITE):
            self.asking.typed()

    def on_key(self, event: Key) -> None:
        """Write a letter that is no key here into the composer."""
        elsewhere = len(self.screen_stack) == 1 and self.focused is not self.composer
        letter = event.is_printable and event.character
        if elsewhere and letter and event.key not in self.screen.active_bindings:
            event.stop()
            event.prevent_default()
            self.write(letter)

    def on_paste(self, event: Paste) -> None:
        """Write pasted text into the composer, too."""
        if len(self.screen_stack) == 1 and self.focused is not self.composer:
            self.composer.screen.set_focus(self.composer)
            self.post_message(Paste(event.text))

    def on_text_area_changed(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """Show the keys that matter now, at most three: the last of them leads to the rest."""
        focused = self.screen_stack[0].focused
        answering = focused is self.transcript and is_open(self.transcript.current)
        names = self._writing() if focused is self.composer else self._elsewhere(answering)
        keys = [each for each in names if each[0] != shown(NO_KEY)]
        self.below(Status).keys = tuple(keys[:KEYS])
        self.composer.invite(answering=answering)

    def _writing(self) -> list[tuple[str, str]]:
        """Return the keys to show while the composer has the focus."""
        header = self.window.header if self.session else None
        text, help_ = self.composer.text, self._help(writing=True)
        others = [each for each in self.fleet.sessions if each["status"] == "needs-you"]
        ask = (label(self, "ask.next"), "next ask")
        if header is not None and widgets.status_line.waits(header):
            return [(ask[0], "answer"), help_]
        if header is None or header.state == "idle":
            if text:
                return [(label(self, "composer.send"), "send"), help_]
            first = ask if others else ("/", "commands")
            return [first, (label(self, "session.list"), "sessions"), help_]
        cancel, send = (label(self, "turn.cancel"), "cancel"), label(self, "composer.send")
        if not text:
            return [cancel, ask, help_] if others else [cancel, help_]
        if not header.steers:
            return [(send, "queue"), cancel, help_]
        return [(send, "steer"), (label(self, "composer.queue"), "queue"), cancel]

    def _elsewhere(self, answering: bool) -> list[tuple[str, str]]:
        """Return the focused part's own keys, then the way back. An ask's card shows its further
        keys itself."""
        active = self.screen_stack[0].active_bindings.values()
        own = {each.binding.id: each.binding for each in active if each.enabled}
        names = ANSWERING if answering else PARTS
        labels = self._own_words() if answering else {}
        keys = [
            (label(self, name), labels.get(name, own[name].description))
            for name in names
            if name in own and own[name].key != NO_KEY
        ]
        if answering or keys[1:]:
            return keys
        return [*keys, (label(self, "turn.cancel"), "back"), self._help(writing=False)]

    def _own_words(self) -> dict[str, str]:
        """Return labels of the answer keys for a link or a budget: there is nothing to allow."""
        block = self.transcript.current
        if block is None or not (
            render.ask_choices.is_link(block) or render.ask_choices.is_ours(block)
        ):
            return {}
        short = {
            each.name: each.label.partition(":")[0] for each in render.ask_choices.choices(block)[0]
        }
        return {name: f"{text[:1].lower()}{text[1:]}" for name, text in short.items()}

    def _help(self, *, writing: bool) -> tuple[str, str]:
        """Return the key for help: the letter, unless it would be part of a text."""
        letter = label(self, "help.letter")
        return (label(self, "help") if writing and self.composer.text else letter, "keys")

    # --- places --------------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        self.fleet.styles.width = width_for(event.size.width)
        if self.screen_stack[0].query("#panel"):  # not there before the first paint
            self.panel.fit(event.size.width)
        self.fleet.set_class(event.size.width < NARROW and not self._listed, "folded")

    def action_sessions(self) -> None:
        """Focus the session list at once: the next key is for it. If it is hidden, it opens."""
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
