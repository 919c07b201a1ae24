"""The windows for the rules that answer asks, in the order in which they are tried: a list, and a
form."""

from functools import partial

from rookery.core.json import Json
from rookery.core.policy.rules import Rule
from rookery.forms import rules
from rookery.forms.form import Saved
from rookery.forms.lists import Row, rule_row
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.form import SavedForm
from rookery.tui.windows.parts.rows import RowsScreen


class RulesScreen(RowsScreen[None]):
    HEADING = "Rules that answer for you"
    EMPTY = 'No rules yet. {key} adds one; so does "always" in answer to an ask.'
    NEW = "rules.new"
    REMOVES = ("Remove this rule? {}", "This takes effect immediately, also in running sessions.")
    BINDINGS = bindings.RULES

    def load(self) -> tuple[Rule, ...]:
        return config.load(self.home).rules

    def shown(self, loaded: tuple[Rule, ...]) -> list[Row]:
        return [rule_row(rule) for rule in loaded]

    def choose(self, row: Row) -> None:
        self.fetch(partial(rules.opened, self.home, row.name), self._opened)

    def _opened(self, form: rules.RuleForm | str) -> None:
        if isinstance(form, str):
            self.ended(f"✗ {form}")
        else:
            self.shell.ask(SavedForm(form), self._saved)

    def action_new(self) -> None:
        self.shell.ask(SavedForm(rules.RuleForm()), self._saved)

    def _saved(self, answer: Json) -> None:
        self.then = answer["name"]
        self.ended(answer["words"])

    def action_place(self, where: str) -> None:
        by = -1 if where == "earlier" else 1
        if self.current:
            self.fetch(partial(rules.moved, self.home, self.current.name, by), self._done)

    def drop(self, name: str) -> None:
        self.fetch(partial(rules.removed, self.home, name), self._done)

    def _done(self, outcome: Saved) -> None:
        self.then = outcome.name
        self.ended(outcome.message if outcome.ok else f"✗ {outcome.message}")
