"""What a rule allows beyond what its author is likely to mean, in a sentence."""

import re

from rookery.core.command_line import escape_hatches
from rookery.core.policy import rules
from rookery.core.policy.call_input import VERBS

_OPEN_END = re.compile(r"(?<=\w)\*(?=\s|$)")


def warnings(rule: rules.Rule) -> list[str]:
    if rule.do != "allow":
        return []
    found = []
    for pattern in rule.command:
        better = _OPEN_END.sub(" *", pattern)
        if better != pattern:
            found.append(
                f"{pattern!r} also matches longer words with this beginning"
                f"{_example(pattern)}. Write {better!r} instead."
            )
    if set(rule.exact) & VERBS and not rule.tool:
        found.append(
            "It names a file tool's action, not a command, and no longer matches "
            "anything. Remove it."
        )
    return found


def _example(pattern: str) -> str:
    return ", such as 'git difftool'" if pattern == "git diff*" else ""


def held_back(known: tuple[rules.Rule, ...], call: rules.Call) -> list[str]:
    """Why rules whose pattern matches do not allow a call: it uses a way to run other programs, or
    to write files, that they do not name."""
    found = []
    for rule in known:
        for command in call.commands if rule.do == "allow" else ():
            for pattern in rule.command if command.plain else ():
                if rules.covers(pattern, command.plain):
                    words = [w for w in escape_hatches.opened(command.plain) if w not in pattern]
                    if words and not escape_hatches.is_allowed(pattern, command.plain):
                        found.append(
                            f"Rule {rule.name} does not allow {', '.join(words)[:200]}: "
                            "it can run other programs or write files. A pattern that "
                            "names it explicitly does."
                        )
    return list(dict.fromkeys(found))
