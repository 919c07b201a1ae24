"""Windows of the settings: a list of what is saved, or of all sections, and the forms behind it."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.widgets import Static

from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.forms import catalog
from rookery.forms.form import Form, Saved
from rookery.forms.sections import LISTS
from rookery.tui.windows.parts.form import SavedForm
from rookery.tui.windows.parts.rows import RowsScreen


class SectionScreen[Answer](RowsScreen[Answer]):
    LIST: ClassVar[str] = ""
    """The list of the catalogue that it shows."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.LIST:
            cls.HEADING, cls.EMPTY = LISTS[cls.LIST].title, LISTS[cls.LIST].empty

    def body(self) -> ComposeResult:
        if self.LIST:
            yield Static(LISTS[self.LIST].about, classes="about", markup=False)
        yield from super().body()

    def open_form(
        self, kind: str, name: str, then: Callable[[Json], object], first: str = ""
    ) -> None:
        """Open a form of the settings. `first`: the field where the cursor begins."""

        def show(form: Form | str) -> None:
            if isinstance(form, str):
                self.ended(f"✗ {form}")
            else:
                self.shell.ask(SavedForm(form, first), then)

        self.fetch(partial(catalog.opened, self.home, kind, name), show)

    def action_act(self, do: str) -> None:
        """Carry out an action of the list on the row under the cursor."""
        if self.current:
            self.act(do, self.current.name)

    def act(self, do: str, name: str) -> None:
        if do == "test":
            self.tell(f"Testing {name} …")
        self.fetch(partial(_done, self.home, self.LIST, name, do), self.acted)

    def drop(self, name: str) -> None:
        self.act("remove", name)

    def acted(self, outcome: Saved) -> None:
        self.then = outcome.name
        self.ended(outcome.message if outcome.ok else f"✗ {outcome.message}")
        self.shell.look_around()


def _done(home: str, kind: str, name: str, do: str) -> Saved:
    try:
        return catalog.done(home, kind, name, do)
    except Refused as error:
        return Saved(False, str(error))
