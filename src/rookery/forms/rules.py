"""The form for a rule that answers for the user."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from rookery.client.config import rules as files
from rookery.client.config.edit import attempt
from rookery.core.json import Json
from rookery.core.policy.rule_tables import Fault, rule_of, warnings
from rookery.core.policy.rules import DOES, GROUNDS, KINDS, LONGEST_NAME, Rule
from rookery.core.settings.loosening import loosened
from rookery.forms.form import Form, Saved, choices, described
from rookery.home import config, confirmed

TITLES = {"allow": "Allow it", "ask": "Ask me", "deny": "Deny it"}
LISTS = ("agent", "command", "path", "tool", "project")
"""Grounds of which several can be given in one line."""
GONE = "That rule was removed or changed since you opened it. Nothing was saved: open it again."


def schema(shown: Sequence[str] = ("exact",), *, new: bool = True) -> Json:
    """Return the schema. `shown`: a field for each exact line."""
    several = "Several: each in quotes."
    exact = described("Exact command line", "As the agent writes it.")
    fields: Json = {
        "do": described("Then", oneOf=choices({do: TITLES[do] for do in DOES})),
        "command": described("Command", f'Such as "git status *". {several}'),
        "path": described("Path", f'Such as "src/**" or "~/.ssh/**". {several}'),
        "kind": {
            "type": "array",
            "title": "Kind of tool",
            "description": "None: any.",
            "items": {"type": "string", "oneOf": choices({k: k.replace("_", " ") for k in KINDS})},
            "ranged": True,
        },
        "tool": described("Tool", f"Its name, also an MCP tool's. {several}"),
        "agent": described("Agent", "Only for this one; empty: for all."),
        "project": described("Project", "Only in sessions that work in this directory."),
        **dict.fromkeys(shown, exact),
        "destructive": described(
            "Destructive actions",
            "Also what cannot be undone.",
            type="boolean",
            when={"do": ["allow"]},
        ),
        "reason": described("Reason", "Sent to the agent.", when={"do": ["deny"]}),
        "name": described("Name", "Empty: its number.", maxLength=LONGEST_NAME),
    }
    if new:
        fields["first"] = described("First", "It is tried before all other rules.", type="boolean")
    return {"properties": fields, "required": ["do"]}


class RuleForm(Form):
    """The form for a new rule, or an existing one. A ground that does not fit on one line is not
    shown, and kept."""

    def __init__(self, home: str = "", name: str = "") -> None:
        """`name`: of an existing rule; "" for a new one. Raises KeyError, ConfigError."""
        self.title, self.schema, self.values = "New rule", schema(), {"do": "allow"}
        self._key, self._left_out = "", False
        self._hidden: Json = {}
        if not name:
            return
        known = config.load(home).rules
        rule = known[files.find(known, name)]
        self._key, self._left_out = files.key_of(rule), rule.left_out
        self.title = "Rule" if rule.name.isdecimal() else f"Rule {rule.name}"
        grounds = {key: getattr(rule, key) for key in rule.grounds}
        self._hidden = {
            key: list(texts) for key, texts in grounds.items() if not "".join(texts).isprintable()
        }
        exact = {_nth(at): each for at, each in enumerate(rule.exact)} or {"exact": ""}
        self.schema = schema(() if "exact" in self._hidden else tuple(exact), new=False)
        for key in self._hidden:
            self.fields.pop(key, None)
        given: Json = {key: _line(grounds[key]) for key in LISTS if key in grounds}
        given |= exact | {"kind": list(rule.kind), "reason": rule.reason}
        given["name"] = "" if rule.name.isdecimal() else rule.name
        shown = {key: each for key, each in given.items() if each and key in self.fields}
        self.values = {"do": rule.do, **shown, "destructive": rule.destructive}

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if wrong:
            return wrong
        try:
            rule = self._made(answers, 1)
        except ValueError as error:
            return {str(error): "has an unclosed quote"}
        if isinstance(rule, Fault):
            key = next(key for key in (rule.key, "command", "do") if key in self.fields)
            return {key: rule.why if rule.key else f": the rule {rule.why}"}
        return {}

    def loosens(self, home: str, answers: Json) -> list[str]:
        now = confirmed.guarded_settings(home, config.load(home))
        at = self._place(now.rules)
        rule = self._rule(answers, (len(now.rules) if at is None else at) + 1)
        if at is not None:
            after = (*now.rules[:at], rule, *now.rules[at + 1 :])
        else:
            after = (rule, *now.rules) if answers.get("first") else (*now.rules, rule)
        return loosened(now, now._replace(rules=after))

    def _place(self, known: Sequence[Rule]) -> int | None:
        """Return the position of the existing rule; None if the rule is new, or was removed
        meanwhile."""
        with suppress(KeyError):
            return files.find(known, self._key) if self._key else None
        return None

    def save(self, home: str, answers: Json) -> Saved:
        made: list[Rule] = []

        def make(others: Sequence[Rule], number: int) -> Rule:
            rule = self._rule(answers, number)
            if rule.name in [each.name for each in others if not each.name.isdecimal()]:
                raise _Taken
            made.append(rule)
            return rule

        def add(known: Sequence[Rule]) -> Rule:
            return make(known, len(known) + 1)

        try:
            if self._key:
                why = attempt(partial(files.change, home, self._key, make))
            else:
                first = bool(answers.get("first"))
                why = attempt(partial(files.add, home, add, first=first))
        except _Taken:
            return Saved(False, "", {"name": "is another rule's"})
        except KeyError:
            return Saved(False, GONE)
        if why:
            return Saved(False, why)
        notes = " ".join(warnings(made[0]))
        return Saved(True, f"The rule applies. {notes}".strip(), name=files.key_of(made[0]))

    def _rule(self, answers: Json, number: int) -> Rule:
        rule = self._made(answers, number)
        assert isinstance(rule, Rule)
        return rule

    def _made(self, answers: Json, number: int) -> Rule | Fault:
        """Build the rule. Raises ValueError with the field whose quotes are not closed."""
        table: Json = {"do": answers["do"], **self._hidden}
        for key in (key for key in GROUNDS if key in self.fields and key != "exact"):
            value = answers.get(key)
            if isinstance(value, str) and key in LISTS:
                table[key] = _several(key, value)
            elif value:
                table[key] = value
        lines = [
            answers[key] for key in self.fields if key.startswith("exact") and answers.get(key)
        ]
        table |= {"exact": lines} if lines else {}
        only = {"allow": "destructive", "deny": "reason"}.get(answers["do"], "")
        table |= {key: answers[key] for key in ("name", only) if key and answers.get(key)}
        rule = rule_of(table, number)
        if isinstance(rule, Fault) or not self._left_out or rule.do != "allow":
            return rule
        return rule._replace(left_out=True)


class _Taken(Exception):
    """Another rule has this name."""


def _nth(at: int) -> str:
    return f"exact {at + 1}" if at else "exact"


def _line(texts: Sequence[str]) -> str:
    """Format texts on one line, for `_several` to parse."""
    if len(texts) == 1 and not set(texts[0]) & set("\"'") and texts[0] == texts[0].strip():
        return texts[0]
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return " ".join(f'"{text}"' for text in quoted)


def _several(key: str, text: str) -> list[str]:
    """Parse one pattern as it stands, or several in quotes."""
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
        return Saved(True, "That rule was already removed, or changed.")
    return Saved(False, why) if why else Saved(True, "Removed the rule.")


def moved(home: str, name: str, by: int) -> Saved:
    """Move a rule up (-1) or down (1)."""
    changed: list[Rule] = []
    try:
        why = attempt(lambda: changed.append(files.move(home, name, by)))
    except KeyError:
        return Saved(False, GONE)
    if why:
        return Saved(False, why)
    message = "The rule is tried earlier." if by < 0 else "The rule is tried later."
    return Saved(True, message, name=files.key_of(changed[0]))


def loosened_by(home: str, name: str, by: int | None) -> list[str]:
    """Return what moving the rule, or removing it (None), would allow without asking."""
    now = confirmed.guarded_settings(home, config.load(home))
    after = list(now.rules)
    try:
        at = files.find(after, name)
    except KeyError:
        return []
    rule = after.pop(at)
    if by is not None:
        after.insert(max(0, at + by), rule)
    return loosened(now, now._replace(rules=tuple(after)))
