"""The help window (F1): every key, grouped by where it works, taken from the bindings
themselves."""

from itertools import groupby
from typing import Any, NamedTuple

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static, TextArea

from rookery.core.settings import keys as settings_keys
from rookery.tui.keys import bindings
from rookery.tui.keys.map import NO_KEY, keys_of, label, shown
from rookery.tui.private import forget_keys
from rookery.tui.shell import Shell
from rookery.tui.windows.parts.modals import Modal

LIBRARY: tuple[tuple[str, list[BindingType]], ...] = (
    ("In any list", OptionList.BINDINGS),
    ("In any text", TextArea.BINDINGS),
)
"""Keys of the library, which cannot be changed."""

WIDE = 24
"""Width of the keys' column."""


class Key(NamedTuple):
    place: str
    keys: str
    summary: str


def all_keys(app: App[Any]) -> list[Key]:
    left_out = bindings.OF_THIS_MACHINE if isinstance(app, Shell) and app.start.address else ()
    ours = [
        Key(place, shown(keys_of(app, str(each.id))), each.tooltip or each.description)
        for place, group in bindings.PLACES
        if place not in left_out
        for each in group
        if isinstance(each, Binding) and (not isinstance(app, Shell) or app.offers(each.action))
    ]
    return ours + _library(app)


def _library(app: App[Any]) -> list[Key]:
    """Return the library's keys, without those that do something else here."""
    before = [*bindings.EVERYWHERE, *bindings.WRITING]
    names = [str(each.id) for each in before if isinstance(each, Binding)]
    taken = {key for name in names for key in keys_of(app, name).split(",")}
    rows = []
    for place, theirs in LIBRARY:
        for each in theirs:
            assert isinstance(each, Binding)
            keys = [key for key in each.key.split(",") if not key.startswith("super+")]
            if place == "In any text":
                keys = [key for key in keys if key not in taken]
            if keys:
                description = each.description
                rows.append(
                    Key(place, shown(",".join(keys)), description[:1].lower() + description[1:])
                )
    return rows


class KeysScreen(Modal[None]):
    """The list of keys; typing filters it."""

    BINDINGS = bindings.KEYS
    KIND = "window tall wide"
    HEADING = "Keys"

    def __init__(self, keys: list[Key]) -> None:
        super().__init__()
        self._keys = keys

    def body(self) -> ComposeResult:
        yield Input(placeholder="Search keys", compact=True)
        with VerticalScroll(can_focus=False):
            yield Static(self._listed(""), id="listed")

    def keys_line(self) -> str:
        names = ("up", "down", "pageup", "pagedown")
        moves = " ".join(label(self.app, f"keys.{name}") for name in names)
        return f"[b]{moves}[/] move   {super().keys_line()}"

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one("#listed", Static).update(self._listed(event.value))
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False, immediate=True)

    def action_turn(self, pages: int) -> None:
        self.action_scroll(pages * max(1, self.query_one(VerticalScroll).size.height - 1))

    def _listed(self, letters: str) -> Content:
        terms = letters.casefold().split()
        matches = [key for key in self._keys if _has(key, terms)]
        if not matches:
            return Content("No matches.")
        parts: list[Any] = []
        for place, keys in groupby(matches, key=lambda each: each.place):
            parts += ["\n" if parts else "", (f"{place}\n", "bold $accent")]
            for each in keys:
                gap = f"\n{' ' * (WIDE + 2)}" if len(each.keys) >= WIDE else ""
                gap = gap or " " * (WIDE - len(each.keys))
                parts += ["  ", (each.keys, "bold"), gap, (f"{each.summary}\n", "$ink-2")]
        return Content.assemble(*parts)


def _has(key: Key, wanted: list[str]) -> bool:
    text = " ".join(key).casefold()
    return all(word in text for word in wanted)


def take_keys(app: Shell, chosen: dict[str, str]) -> None:
    """Apply the user's own keys."""
    keymap = settings_keys.settled(chosen)
    app.set_keymap({name: ",".join(keys) or NO_KEY for name, keys in keymap.items()})
    new = {
        key
        for name in chosen
        for key in settings_keys.taken(name, settings_keys.listed(chosen[name]))
    }
    app.composer.invite(answering=False)
    app.window.forget_lines()  # cards name their keys
    app.transcript.settle()
    for widget in (app.composer, app.transcript, app.fleet):
        forget_keys(widget, new)
