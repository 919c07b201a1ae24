"""A command line as rules read it, so that a rule about `git status` says nothing about what hides
behind it.

`plain_parts` is for what may be allowed: it gives up on everything that it does not understand
whole. `suspects` is for what must be denied: it guesses widely.
"""

import re
from itertools import permutations

from rookery.core.command_line.arguments import SINGLE, Arguments, all_values_of, first_operand
from rookery.core.command_line.grammar import joined
from rookery.core.command_line.line import read
from rookery.core.command_line.words import LONGEST, Simple

LONGEST_SPELLING = 5000
MOST_PARTS = 200
"""Of a line that is plain."""
MOST = 1000
"""Pieces, and words of a piece, that are looked at."""

# What leaves no trace anywhere: `2>&1`, `>/dev/null`. A word must end where it ends.
_HARMLESS = re.compile(r"(?:(?<=\s)|^)(?:\d?>&\d|[\d&]?>{1,2} {0,9}/dev/null)(?=\s|$|[;&|])")
_SEPARATORS = ";&|\n"
_UNCLEAR = frozenset("`$()<>#\\")
"""Outside quotes; `#` could hide a quote from us, and a quote a line from the shell's reader."""


def plain_parts(text: str) -> tuple[str, ...] | None:
    """The simple commands of a line, as they are written; None where anything in it is unclear:
    substitutions, variables, redirections, groups, comments, open quotes, control characters."""
    if len(text) >= LONGEST or any(not sign.isprintable() and sign not in "\t\n" for sign in text):
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
    found = tuple(stripped for each in parts if (stripped := each.strip(" \t")))
    return found if found and len(found) <= MOST_PARTS else None


def _quoted(text: str, start: int) -> int | None:
    """Where a quotation ends; None where it does not, or where the shell looks into it."""
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
    """All that a line may run: each command that a shell would find in it, also within wrappers,
    scripts and substitutions, in the spellings that a pattern may have for it."""
    text = text[:LONGEST]
    found: dict[str, None] = {text.strip(): None}
    line = read(text)
    for command in line.commands[:MOST]:
        found.update(dict.fromkeys(_spellings(command)))
    if not line.whole:
        found.update(dict.fromkeys(_guessed(text)))
    return tuple(found)


def _guessed(text: str) -> list[str]:
    """Of a text that no shell would read: what stands between its signs."""
    bare = text.replace("\\\n", "").translate(dict.fromkeys(map(ord, "'\"\\")))
    pieces = [piece.split()[:MOST] for piece in _CUTS.split(bare)[:MOST]]
    return [" ".join(words) for words in pieces if words]


def names(text: str) -> tuple[str, ...]:
    """The words of a line that may be paths: operands, values of options, redirections."""
    found: dict[str, None] = {}
    for command in read(text[:LONGEST]).commands[:MOST]:
        words = [*command.words, *(each.target for each in command.redirects)]
        for word in words[:MOST]:
            whole = joined(command.place, word.text)
            found.update(dict.fromkeys((word.text, whole or word.text)))
            if "=" in word.text:
                found[word.text.partition("=")[2]] = None
    return tuple(each for each in found if each)


# --- spellings -----------------------------------------------------------------------------------


def _spellings(command: Simple) -> list[str]:
    """The ways in which a rule may have written it: `git push*` means `git -C dir push`, too."""
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
    return " ".join(words)[:LONGEST_SPELLING]


def _orders(given: list[str]) -> list[list[str]]:
    """`-r -f`, `-fr` and `-rf` say the same."""
    short = [text for text in given if len(text) > 1 and text[1] != "-" and text[1:].isalpha()]
    letters = list(dict.fromkeys("".join(text[1:] for text in short)))
    if not 2 <= len(letters) <= 3:
        return []
    others = [text for text in given if text not in short]
    return [["-" + "".join(order), *others] for order in permutations(letters)]
