"""A rule that answers for the user as a form."""

import shlex
from collections.abc import Sequence
from functools import partial

from rookery.client.config import rules as files
from rookery.client.config.edit import attempt
from rookery.core.json import Json
from rookery.core.policy.rule_tables import Fault, rule_of, warnings
from rookery.core.policy.rules import DOES, GROUNDS, KINDS, LONGEST_NAME, Rule
from rookery.core.settings.loosening import loosened
from rookery.forms.form import Form, Saved, choices, described
from rookery.home import config, confirmed

TITLES = {"allow": "allow it", "ask": "ask me", "deny": "deny it"}
LISTS = ("agent", "command", "path", "tool")
"""Grounds of which several can be given in one line."""


def schema() -> Json:
    several = "several: each in quotes"
    return {
        "properties": {
            "do": described("Then", oneOf=choices({do: TITLES[do] for do in DOES})),
            "command": described("Command", f'such as "git status *"; {several}'),
            "path": described("Path", f'such as "src/**" or "~/.ssh/**"; {several}'),
            "kind": {
                "type": "array",
                "title": "Kind of tool",
                "description": "none: any",
                "items": {"type": "string", "enum": list(KINDS)},
                "ranged": True,
            },
            "tool": described("Tool", f"its name, also an MCP tool's; {several}"),
            "agent": described("Agent", "only for this one; empty: for all"),
            "exact": described("Exact command line", "as the agent writes it"),
            "destructive": described(
                "Also what cannot be undone", type="boolean", when={"do": ["allow"]}
            ),
            "reason": described("Reason", "sent to the agent", when={"do": ["deny"]}),
            "name": described("Name", "empty: its number", maxLength=LONGEST_NAME),
            "first": described("Before all other rules", type="boolean"),
        },
        "required": ["do"],
    }


class RuleForm(Form):
    def __init__(self) -> None:
        self.title = "New rule"
        self.schema = schema()
        self.values = {"do": "allow"}

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if wrong:
            return wrong
        try:
            rule = _made(answers, ())
        except ValueError as error:
            return {str(error): "has an unclosed quote"}
        if isinstance(rule, Fault):
            return {rule.key or "command": rule.why if rule.key else f": the rule {rule.why}"}
        return {}

    def loosens(self, home: str, answers: Json) -> list[str]:
        now = confirmed.said(home, config.load(home))
        rule = _made(answers, now.rules)
        assert isinstance(rule, Rule)
        after = (rule, *now.rules) if answers.get("first") else (*now.rules, rule)
        return loosened(now, now._replace(rules=after))

    def save(self, home: str, answers: Json) -> Saved:
        made: list[Rule] = []

        def make(known: Sequence[Rule]) -> Rule:
            rule = _made(answers, known)
            assert isinstance(rule, Rule)
            if rule.name in [each.name for each in known]:
                raise _Taken
            made.append(rule)
            return rule

        try:
            add = partial(files.add, home, make, first=bool(answers.get("first")))
            why = attempt(add)
        except _Taken:
            return Saved(False, "", {"name": "is another rule's"})
        if why:
            return Saved(False, why)
        said = " ".join(warnings(made[0]))
        return Saved(True, f"The rule applies. {said}".strip(), name=made[0].name)


class _Taken(Exception):
    """There is a rule of this name."""


def _made(answers: Json, known: Sequence[Rule]) -> Rule | Fault:
    """Raises ValueError with the field whose quotes are not closed."""
    table: Json = {"do": answers["do"]}
    for key in GROUNDS:
        value = answers.get(key)
        if isinstance(value, str) and key in LISTS:
            table[key] = _several(key, value)
        elif value:
            table[key] = value
    only = {"allow": "destructive", "deny": "reason"}.get(answers["do"], "")
    table |= {key: answers[key] for key in ("name", only) if key and answers.get(key)}
    return rule_of(table, len(known) + 1)


def _several(key: str, text: str) -> list[str]:
    """One pattern as it stands, or several in quotes."""
    if '"' not in text and "'" not in text:
        return [text.strip()]
    try:
        return shlex.split(text)
    except ValueError:
        raise ValueError(key) from None


def removed(home: str, name: str) -> Saved:
    try:
        why = attempt(lambda: files.remove(home, name))
    except KeyError:
        return Saved(True, f"Rule {name} was already removed.")
    return Saved(False, why) if why else Saved(True, f"Removed rule {name}.")


def removal_loosens(home: str, name: str) -> list[str]:
    now = confirmed.said(home, config.load(home))
    after = tuple(rule for rule in now.rules if rule.name != name)
    return loosened(now, now._replace(rules=after))
