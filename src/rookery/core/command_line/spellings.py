"""The ways in which a person may have written a command down in a rule: `git push*` means `git -C
dir push` and `/usr/bin/git push`, too."""

from itertools import permutations

from rookery.core.command_line.arguments import SINGLE, Arguments, all_values_of, first_operand
from rookery.core.command_line.words import Simple

LONGEST = 5000
"""Characters of a spelling."""


def spellings(command: Simple) -> list[str]:
    """As it stands, and without what may stand between its words."""
    if not command.words:
        return []
    words = command.argv
    found = {_joined(words): None}
    if command.assigned:
        found[_joined([*(word.text for word in command.assigned), *words])] = None
    program, rest = command.program, command.words[1:]
    if program != words[0]:
        found[_joined([program, *words[1:]])] = None
    if program.startswith("git-"):
        found[_joined(["git", program.removeprefix("git-"), *words[1:]])] = None
    if any(text.startswith(("-", "+")) for text in words[1:]):
        values = all_values_of(program)
        found[_joined([program, *words[1 + first_operand(rest, values) :]])] = None
        taken = Arguments(rest, values, single=program in SINGLE)
        operands = [word.text for word in taken.operands]
        found[_joined([program, *operands])] = None
        found[_joined([program, *operands[:1], *taken.given, *operands[1:]])] = None
        found[_joined([program, *taken.given, *operands])] = None
        for letters in _orders(taken.given):
            found[_joined([program, *letters, *operands])] = None
            found[_joined([program, *operands[:1], *letters, *operands[1:]])] = None
    return list(found)


def _joined(words: list[str]) -> str:
    return " ".join(words)[:LONGEST]


def _orders(given: list[str]) -> list[list[str]]:
    """`-r -f`, `-fr` and `-rf` say the same."""
    short = [text for text in given if len(text) > 1 and text[1] != "-" and text[1:].isalpha()]
    letters = list(dict.fromkeys("".join(text[1:] for text in short)))
    if not 2 <= len(letters) <= 3:
        return []
    others = [text for text in given if text not in short]
    return [["-" + "".join(order), *others] for order in permutations(letters)]
