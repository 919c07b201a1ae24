"""The windows for the rules that answer asks, in the order in which they are tried: a list, and a
form."""

from rookery.core.json import Json
from rookery.core.policy.rules import Rule
from rookery.forms.lists import Row, rule_row
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.section import SectionScreen


class RulesScreen(SectionScreen[None]):
    LIST = "rules"
    NEW = "rules.new"
    REMOVES = ("Remove this rule? {}", "This takes effect immediately, also in running sessions.")
    BINDINGS = bindings.RULES

    def load(self) -> tuple[Rule, ...]:
        return config.load(self.home).rules

    def shown(self, loaded: tuple[Rule, ...]) -> list[Row]:
        return [rule_row(rule) for rule in loaded]

    def choose(self, row: Row) -> None:
        self.open_form("rules", row.name, self._saved)

    def action_new(self) -> None:
        self.open_form("rules", "", self._saved)

    def _saved(self, answer: Json) -> None:
        self.then = answer["name"]
        self.ended(answer["words"])
