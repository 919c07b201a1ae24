"""Splitting a command line for rules, so that a rule about `git status` does not also cover
commands that hide behind it.

`plain_parts` is for what may be allowed: it gives up on anything that it does not fully understand.
`suspects` is for what must be denied: it guesses widely."""

import re
from itertools import permutations

from rookery.core.command_line.arguments import SINGLE, Arguments, all_values_of, first_operand
from rookery.core.command_line.grammar import joined
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import MAX_LINE_LENGTH, Simple

LONGEST_SPELLING = 5000
MOST_PARTS = 200
"""How many commands a plain line may have."""
MAX_PIECES = 1000
"""How many pieces, and words of a piece, are looked at."""

# What leaves no trace anywhere: `2>&1`, `>/dev/null`. A word must end where it ends.
_HARMLESS = re.compile(r"(?:(?<=\s)|^)(?:\d?>&\d|[\d&]?>{1,2} {0,9}/dev/null)(?=\s|$|[;&|])")
_SEPARATORS = ";&|\n"
_UNCLEAR = frozenset("`$()<>#\\")
"""Outside quotes; `#` could hide a quote from us, and a quote a line from the shell's reader."""


def plain_parts(text: str) -> tuple[str, ...] | None:
    """Return the simple commands of a line, as written; None if anything in it is unclear:
    substitutions, variables, redirections, groups, comments, open quotes, control characters."""
    if len(text) >= MAX_LINE_LENGTH or any(
        not sign.isprintable() and sign not in "\t\n" for sign in text
    ):
        return None
    parts: list[str] = []
    part: list[str] = []
    place = 0
    while place < len(text):
        sign = text[place]
        if sign in "'\"":
            end = _quoted(text, place)
            if end is None:
                return None
            part.append(text[place:end])
            place = end
            continue
        if harmless := _HARMLESS.match(text, place):
            place = harmless.end()
            continue
        if sign in _UNCLEAR:
            return None
        if sign in _SEPARATORS:
            parts.append("".join(part))
            part = []
        else:
            part.append(sign)
        place += 1
    parts.append("".join(part))
    commands = tuple(stripped for each in parts if (stripped := each.strip(" \t")))
    return commands if commands and len(commands) <= MOST_PARTS else None


def _quoted(text: str, start: int) -> int | None:
    """Return where a quotation ends; None if it does not, or if the shell expands it."""
    end = text.find(text[start], start + 1)
    if end < 0:
        return None
    inner = text[start + 1 : end]
    # In double quotes a shell looks for more; a backslash in single ones is fish's alone.
    if "\\" in inner or (text[start] == '"' and any(sign in "$`" for sign in inner)):
        return None
    return end + 1


# --- the wide reading -------------------------------------------------------------------------

_CUTS = re.compile(r"[;&|\n`(){}<>]")


def suspects(text: str) -> tuple[str, ...]:
    """Return all that a line may run: each command that a shell would find in it, also within
    wrappers, scripts and substitutions, in every spelling that a pattern may use for it."""
    text = text[:MAX_LINE_LENGTH]
    spellings: dict[str, None] = {text.strip(): None}
    line = read(text)
    for command in line.commands[:MAX_PIECES]:
        spellings.update(dict.fromkeys(_spellings(command)))
    if not line.whole:
        spellings.update(dict.fromkeys(_guessed(text)))
    return tuple(spellings)


def _guessed(text: str) -> list[str]:
    """Guess the commands in a text that no shell would parse: the words between its operators."""
    bare = text.replace("\\\n", "").translate(dict.fromkeys(map(ord, "'\"\\")))
    pieces = [piece.split()[:MAX_PIECES] for piece in _CUTS.split(bare)[:MAX_PIECES]]
    return [" ".join(tokens) for tokens in pieces if tokens]


def names(text: str) -> tuple[str, ...]:
    """Return the words of a line that may be paths: operands, values of options, redirections."""
    paths: dict[str, None] = {}
    for command in read(text[:MAX_LINE_LENGTH]).commands[:MAX_PIECES]:
        tokens = [*command.tokens, *(each.target for each in command.redirects)]
        for word in tokens[:MAX_PIECES]:
            whole = joined(command.place, word.text)
            paths.update(dict.fromkeys((word.text, whole or word.text)))
            if "=" in word.text:
                paths[word.text.partition("=")[2]] = None
    return tuple(each for each in paths if each)


# --- spellings -----------------------------------------------------------------------------------


def _spellings(command: Simple) -> list[str]:
    """Return how a rule may have written the command: `git push*` means `git -C dir push`, too."""
    if not command.tokens:
        return []
    argv = command.argv
    spellings = {_joined(argv): None}
    if command.assigned:
        spellings[_joined([*(word.text for word in command.assigned), *argv])] = None
    program, rest = command.program, command.tokens[1:]
    if program != argv[0]:
        spellings[_joined([program, *argv[1:]])] = None
    if program.startswith("git-"):
        spellings[_joined(["git", program.removeprefix("git-"), *argv[1:]])] = None
    if any(text.startswith(("-", "+")) for text in argv[1:]):
        values = all_values_of(program)
        spellings[_joined([program, *argv[1 + first_operand(rest, values) :]])] = None
        taken = Arguments(rest, values, single=program in SINGLE)
        operands = [word.text for word in taken.operands]
        spellings[_joined([program, *operands])] = None
        spellings[_joined([program, *operands[:1], *taken.given, *operands[1:]])] = None
        spellings[_joined([program, *taken.given, *operands])] = None
        for letters in _orders(taken.given):
            spellings[_joined([program, *letters, *operands])] = None
            spellings[_joined([program, *operands[:1], *letters, *operands[1:]])] = None
    return list(spellings)


def _joined(argv: list[str]) -> str:
    return " ".join(argv)[:LONGEST_SPELLING]


def _orders(given: list[str]) -> list[list[str]]:
    """Return equivalent spellings of short options: `-r -f`, `-fr` and `-rf` mean the same."""
    short = [text for text in given if len(text) > 1 and text[1] != "-" and text[1:].isalpha()]
    letters = list(dict.fromkeys("".join(text[1:] for text in short)))
    if not 2 <= len(letters) <= 3:
        return []
    others = [text for text in given if text not in short]
    return [["-" + "".join(order), *others] for order in permutations(letters)]
