"""The rules that answer for you, in their order; each can be removed."""

from functools import partial

from rookery.client.config import rules
from rookery.client.config.edit import attempt
from rookery.core.policy.rules import Rule, described
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.rows import Row, RowsScreen

SIGNS = {"allow": "on", "deny": "bad", "ask": "off"}


class RulesScreen(RowsScreen[None]):
    HEADING = "Rules that answer for you"
    EMPTY = 'No rules yet. Answer an ask with "always", or use rookery policy add.'
    REMOVES = ("Remove rule {}?", "This takes effect immediately, also in running sessions.")
    BINDINGS = bindings.RULES

    def load(self) -> tuple[Rule, ...]:
        return config.load(self.home).rules

    def shown(self, found: tuple[Rule, ...]) -> list[Row]:
        rows = []
        for rule in found:
            more = f"rule {rule.name}" + (f" · {rule.reason}" if rule.reason else "")
            rows.append(Row(rule.name, f"{rule.do} {described(rule)}", more, SIGNS[rule.do]))
        return rows

    def choose(self, row: Row) -> None:
        key = label(self.app, "rules.remove")
        self.tell(f"{row.title}. {key} removes it; rookery policy test tries a command.")

    def drop(self, name: str) -> None:
        self.fetch(partial(_removed, self.home, name), self.ended)


def _removed(home: str, name: str) -> str:
    try:
        why = attempt(lambda: rules.remove(home, name))
    except KeyError:
        return f"Rule {name} was already removed."
    return f"✗ {why}" if why else f"Removed rule {name}."
