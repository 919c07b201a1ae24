"""The rules that answer for you, in their order; each can be removed."""

from typing import ClassVar

from textual.binding import BindingType

from rookery.client.config import rules
from rookery.core.policy.rules import Rule, described
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.modals import SureScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen
from rookery.tui.windows.parts.saving import attempt

SIGNS = {"allow": "on", "deny": "bad", "ask": "off"}


class RulesScreen(RowsScreen[None]):
    HEADING = "Rules that answer for you"
    EMPTY = 'No rules yet. Answer an ask with "always", or use rookery policy add.'
    BINDINGS: ClassVar[list[BindingType]] = bindings.RULES

    def load(self) -> tuple[Rule, ...] | str:
        try:
            return config.load(self.home).rules
        except config.ConfigError as error:
            return str(error)

    def shown(self, found: tuple[Rule, ...] | str) -> list[Row]:
        if isinstance(found, str):
            self.tell(f"✗ {found}")
            return []
        return [
            Row(rule.name, f"{rule.do} {described(rule)}", _more(rule), SIGNS.get(rule.do, ""))
            for rule in found
        ]

    def choose(self, row: Row) -> None:
        key = label(self.app, "rules.remove")
        self.tell(f"{row.title}. {key} removes it; rookery policy test tries a command.")

    def action_remove(self) -> None:
        if (row := self.current) is None:
            return

        def sure(yes: bool | None) -> None:
            if yes:
                home = self.home
                self.fetch(lambda: _removed(home, row.name), self.ended)

        words = "This takes effect immediately, also in running sessions."
        self.app.push_screen(SureScreen(f"Remove rule {row.name}?", words), sure)


def _more(rule: Rule) -> str:
    return f"rule {rule.name}" + (f" · {rule.reason}" if rule.reason else "")


def _removed(home: str, name: str) -> str:
    try:
        why = attempt(lambda: rules.remove(home, name))
    except KeyError:
        return f"Rule {name} was already removed."
    return f"✗ {why}" if why else f"Removed rule {name}."
