"""Rules as tables of config.toml: what each key may hold, and what happens to unknown keys."""

from typing import NamedTuple

from rookery.core.command_line import globs
from rookery.core.json.events import Json
from rookery.core.policy import danger
from rookery.core.policy.rules import DOES, GROUNDS, KINDS, LONGEST_NAME, Rule, described


class Fault(NamedTuple):
    key: str
    """ "": the whole table."""
    why: str


KEYS = ("name", "do", *GROUNDS, "destructive", "reason")


def unknown_keys(table: Json) -> list[str]:
    return [str(key) for key in table if key not in KEYS]


def consequence(rule: Rule) -> str:
    """What a key that is not known does to its rule, in words."""
    known = f"Known keys: {', '.join(KEYS)}"
    if rule.left_out:
        return f"The rule is ignored, so that it does not allow more than you meant. {known}"
    verb = "denies" if rule.do == "deny" else "asks about"
    return f"Without it the rule {verb} {described(rule)}. {known}"


def rule_of(table: object, number: int) -> Rule | Fault:
    """A table of the configuration as a rule; where it has no name, its place is its name.

    A key that is not known may be a ground, which would make the rule narrower. So a rule that
    allows is left out with it, and one that asks or denies holds without it: never is more allowed
    than was written.
    """
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
                    return Fault(
                        key, "must contain a letter: plain numbers are positions in the list"
                    )
                return value.strip()
            return Fault(key, f"must be a string of at most {LONGEST_NAME} characters")
        case "reason":
            return value if isinstance(value, str) else Fault(key, "must be a string")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        return Fault(key, "must be a string or a list of strings")
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return Fault(key, "must be a string or a list of strings")
    if key == "kind" and (wrong := [text for text in texts if text not in KINDS]):
        return Fault(key, f"has no {wrong[0]!r}. Known kinds: {', '.join(KINDS)}")
    longest = danger.LONGEST if key == "exact" else globs.LONGEST
    if any(len(text) > longest for text in texts):
        return Fault(key, f"must have at most {longest} characters")
    return tuple(texts)
