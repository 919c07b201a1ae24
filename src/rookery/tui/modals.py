"""Small windows over the screen: one line to fill in, a yes, and the list of all keys.

A modal is a ModalScreen with its answer as the type: `app.push_screen(LineScreen(…), callback)`.
"""

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from rookery.tui.keynames import shown
from rookery.tui.look.plain import clean, clean_line


class Modal[Answer](ModalScreen[Answer | None]):
    """Esc leaves it without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", priority=True)]
    BACK: ClassVar[str] = "back"
    """The word for what Esc does."""

    def on_mount(self) -> None:
        """Over another window it is alone: the frames of two would cut into each other."""
        below = self.app.screen_stack[-2] if len(self.app.screen_stack) > 1 else None
        self.set_class(isinstance(below, ModalScreen), "over")

    def action_leave(self) -> None:
        self.dismiss(None)


def keys_line(screen: Modal[Any]) -> str:
    """The keys of a window, each of which can be clicked, too."""
    found = [
        (each.id, shown(each.key.partition(",")[0]), each.action, each.description)
        for kind in type(screen).__mro__
        for each in vars(kind).get("BINDINGS", [])
        if isinstance(each, Binding) and each.id and each.show
    ]
    found.append(("back", "Esc", "leave", screen.BACK))
    unique: dict[str, str] = {}
    for name, key, action, words in found:  # a window's own word for a key comes first
        said = f" {words}".replace(" ", "\u00a0")
        unique.setdefault(name, f"[@click=screen.{action}][b $accent]{key}[/]{said}[/]")
    return "   ".join(unique.values())


class LineScreen(Modal[str]):
    """One line of text; Enter takes it, also an empty one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "take", "send", id="line.take")]

    def __init__(self, question: str, text: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._text, self._hint = question, text, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(clean_line(self._question), classes="title", markup=False)
            yield Input(self._text, placeholder=self._hint, compact=True)
            yield Label(keys_line(self), classes="keys")

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        self.dismiss(self.query_one(Input).value)


class SureScreen(Modal[bool]):
    """Whether something is to be done; what happens then is said before."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y,enter", "yes", "yes", id="sure.yes")]

    def __init__(self, question: str, words: str = "") -> None:
        super().__init__()
        self._question, self._words = question, words

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(clean_line(self._question), classes="title", markup=False)
            if self._words:
                yield Label(clean(self._words), markup=False, classes="said")
            yield Label(keys_line(self), classes="keys")

    def action_yes(self) -> None:
        self.dismiss(True)


class KeysScreen(Modal[None]):
    """F1: every key that there is, with what it does."""

    def __init__(self, keys: list[tuple[str, str, str]]) -> None:
        """Each: where it works, the key, what it does."""
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="window tall"):
            yield Label("Keys", classes="title")
            with VerticalScroll():
                where = ""
                for place, key, words in self._keys:
                    if place != where:
                        where = place
                        yield Label(place, classes="section", markup=False)
                    yield Label(f"  {key:<22} {words}", markup=False)
            yield Label(keys_line(self), classes="keys")
