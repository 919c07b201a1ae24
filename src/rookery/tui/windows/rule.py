"""The rules that answer for a person, in their order; each can be taken out."""

from typing import ClassVar

from textual.binding import BindingType

from rookery.client.config import rules
from rookery.core.policy.rules import Rule, described
from rookery.home import config
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.modals import SureScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen

SIGNS = {"allow": "on", "deny": "bad", "ask": "off"}


class RulesScreen(RowsScreen[None]):
    HEADING = "Rules that answer for you"
    EMPTY = "No rule yet. An answer that holds from now on makes one; so does rookery policy add."
    BINDINGS: ClassVar[list[BindingType]] = bindings.RULES

    def load(self) -> tuple[Rule, ...] | str:
        try:
            return config.load(self.shell.start.home).rules
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
        self.tell(f"{row.title}. {key} takes it out; rookery policy test tries a command.")

    def action_remove(self) -> None:
        if (row := self.current) is None:
            return

        def sure(yes: bool | None) -> None:
            if yes:
                home = self.shell.start.home
                self.shell.room.fetch(lambda: _removed(home, row.name), self._ended)

        words = "Sessions that are awake go by what is left at once."
        self.app.push_screen(SureScreen(f"Remove rule {row.name}?", words), sure)

    def _ended(self, said: str) -> None:
        if self.is_attached:
            self.reload()
            self.tell(said)


def _more(rule: Rule) -> str:
    return f"rule {rule.name}" + (f" · {rule.reason}" if rule.reason else "")


def _removed(home: str, name: str) -> str:
    try:
        rules.remove(home, name)
    except KeyError:
        return f"Rule {name} is gone already."
    except (config.ConfigError, rules.NotEdited) as error:
        return f"✗ {error}"
    except OSError as error:
        return f"✗ config.toml could not be written: {error.strerror}."
    return f"Removed rule {name}."
