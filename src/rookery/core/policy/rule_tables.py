"""Parsing rules from the tables of config.toml: what each key may hold, how unknown keys are
treated, and warnings where a rule allows more than its author is likely to mean."""

import re
from typing import NamedTuple

from rookery.core import command_line
from rookery.core.command_line import globs
from rookery.core.json import Json
from rookery.core.policy import danger, go_asks, rules
from rookery.core.policy.call_input import VERBS
from rookery.core.policy.rules import DOES, GROUNDS, KINDS, LONGEST_NAME, Rule, described


class Fault(NamedTuple):
    key: str
    """ "": the whole table."""
    why: str


KEYS = ("name", "do", *GROUNDS, "destructive", "reason")


def unknown_keys(table: Json) -> list[str]:
    return [str(key) for key in table if key not in KEYS]


def consequence(rule: Rule) -> str:
    """Describe the effect of an unknown key on its rule."""
    known = f"Known keys: {', '.join(KEYS)}"
    if rule.left_out:
        return f"The rule is ignored, so that it does not allow more than you meant. {known}"
    verb = "denies" if rule.do == "deny" else "asks about"
    return f"Without it the rule {verb} {described(rule)}. {known}"


def rule_of(table: object, number: int) -> Rule | Fault:
    """Parse a table of the configuration as a rule; a rule without a name is named by its position.

    An unknown key may be a ground, which would make the rule narrower. So a rule that allows is
    ignored if it has one, and a rule that asks or denies applies without it: never is more allowed
    than was written."""
    if not isinstance(table, dict):
        return Fault("", 'must be a table with do = "allow", "ask" or "deny"')
    given: Json = {}
    for key, value in table.items():
        if key not in KEYS:
            continue
        read = _read(key, value)
        if isinstance(read, Fault):
            return read
        given[key] = read
    if "do" not in given:
        return Fault("", 'needs do = "allow", "ask" or "deny"')
    unknown = unknown_keys(table)
    out = bool(unknown) and given["do"] == "allow"
    rule = Rule(**{"name": str(number), **given, "left_out": out})
    if not rule.grounds and not unknown:
        return Fault("", f"needs at least one of: {', '.join(GROUNDS)}")
    if rule.destructive and rule.do != "allow":
        return Fault("destructive", "is only for rules that allow")
    if rule.reason and rule.do != "deny":
        return Fault("reason", "is only for rules that deny")
    return rule


def _read(key: str, value: object) -> object:
    match key:
        case "do":
            return value if value in DOES else Fault(key, 'must be "allow", "ask" or "deny"')
        case "destructive":
            return value if isinstance(value, bool) else Fault(key, "must be true or false")
        case "name":
            if isinstance(value, str) and value.strip() and len(value) <= LONGEST_NAME:
                if value.isdecimal() or not value.isprintable():
                    problem = "must contain a letter: plain numbers are positions in the list"
                    return Fault(key, problem)
                return value.strip()
            return Fault(key, f"must be a string of at most {LONGEST_NAME} characters")
        case "reason":
            return value if isinstance(value, str) else Fault(key, "must be a string")
    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        return Fault(key, "must be a string or a list of strings")
    if key == "kind" and (wrong := [text for text in texts if text not in KINDS]):
        return Fault(key, f"has no {wrong[0]!r}. Known kinds: {', '.join(KINDS)}")
    if key == "project" and not all(text.startswith(("/", "~/")) or text == "~" for text in texts):
        return Fault(key, "must be an absolute path, or one that begins with ~/")
    longest = danger.MAX_LINE_LENGTH if key == "exact" else globs.MAX_PATTERN_LENGTH
    if any(len(text) > longest for text in texts):
        return Fault(key, f"must have at most {longest} characters")
    return tuple(texts)


_OPEN_END = re.compile(r"(?<=\w)\*(?=\s|$)")


def warnings(rule: rules.Rule) -> list[str]:
    if rule.do != "allow":
        return []
    problems = []
    for pattern in rule.command:
        better = _OPEN_END.sub(" *", pattern)
        if better != pattern:
            such = ", such as 'git difftool'" if pattern == "git diff*" else ""
            problem = f"{pattern!r} also matches longer words with this beginning{such}."
            problems.append(f"{problem} Write {better!r} instead.")
    if set(rule.exact) & VERBS and not rule.tool:
        problem = "It names a file tool's action, not a command, and no longer matches anything."
        problems.append(f"{problem} Remove it.")
    if go_asks.TOOL in rule.tool:
        problems.append(go_asks.ONLY_YOU)
    return problems


def held_back(known: tuple[rules.Rule, ...], call: rules.Call) -> list[str]:
    """Explain why rules whose pattern matches do not allow a call: it uses a way to run other
    programs, or to write files, that they do not name."""
    reasons = []
    for rule in known:
        for command in call.commands if rule.do == "allow" else ():
            for pattern in rule.command if command.plain else ():
                if rules.covers(pattern, command.plain):
                    hatches = [
                        w
                        for w in command_line.escape_hatches.opened(command.plain)
                        if w not in pattern
                    ]
                    if hatches and not command_line.escape_hatches.is_allowed(
                        pattern, command.plain
                    ):
                        reasons.append(
                            f"Rule {rule.name} does not allow {', '.join(hatches)[:200]}: "
                            "it can run other programs or write files. A pattern that "
                            "names it explicitly does."
                        )
    return list(dict.fromkeys(reasons))
