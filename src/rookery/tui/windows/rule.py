"""The rules that answer for you, in their order; each can be removed."""

from functools import partial

from rookery.core.policy.rules import Rule
from rookery.forms import rules
from rookery.forms.form import Saved
from rookery.forms.lists import Row, rule_row
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.rows import RowsScreen


class RulesScreen(RowsScreen[None]):
    HEADING = "Rules that answer for you"
    EMPTY = 'No rules yet. Answer an ask with "always", or use rookery policy add.'
    REMOVES = ("Remove rule {}?", "This takes effect immediately, also in running sessions.")
    BINDINGS = bindings.RULES

    def load(self) -> tuple[Rule, ...]:
        return config.load(self.home).rules

    def shown(self, found: tuple[Rule, ...]) -> list[Row]:
        return [rule_row(rule) for rule in found]

    def choose(self, row: Row) -> None:
        key = label(self.app, "rules.remove")
        self.tell(f"{row.title}. {key} removes it; rookery policy test tries a command.")

    def drop(self, name: str) -> None:
        self.fetch(partial(rules.removed, self.home, name), self._removed)

    def _removed(self, outcome: Saved) -> None:
        self.ended(outcome.words if outcome.ok else f"✗ {outcome.words}")
