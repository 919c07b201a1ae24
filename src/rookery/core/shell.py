"""A command line taken apart, so that a rule about `git status` says nothing about what hides
behind it (row P5).

Two readings of the same text. `plain_parts` is for what may be allowed: it gives up on everything
that it does not understand whole. `suspects` is for what must be denied: it guesses widely.
"""

import re

LONGEST = 100_000
"""Characters of a command that are read; what is so long may have been cut, and is never plain."""

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
_ASSIGNMENT = re.compile(r"\w{1,200}\+?=")
_WRAPPERS = frozenset(
    (
        *("sudo", "doas", "env", "command", "builtin", "exec", "eval", "nohup", "time", "timeout"),
        *("nice", "xargs", "stdbuf", "setsid", "then", "do", "else", "if", "while", "until", "!"),
    )
)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})


def suspects(text: str) -> tuple[str, ...]:
    """All that a line may run, as far as one can guess: its parts, what stands in substitutions and
    quotes, with and without quotes, wrappers, assignments and the program's directory."""
    text = text[:LONGEST]
    found: dict[str, None] = {text.strip(): None}
    joined = text.replace("\\\n", "")
    for line in (joined, _bare(joined)):
        for piece in _CUTS.split(line)[:MOST]:
            words = piece.strip().lstrip("$").split()[:MOST]
            found.update(dict.fromkeys(_spellings(words)))
    return tuple(found)


def _bare(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, "'\"\\")))


BEHIND = 8
"""Words after a wrapper at which the wrapped command may begin: `sudo -u bob rm`."""
MOST_SPELLINGS = 32


def _spellings(words: list[str]) -> list[str]:
    """One command as it stands, and as it is without what may stand before it."""
    found: list[str] = []
    place, look = 0, 1
    while place < len(words) and look and len(found) < MOST_SPELLINGS:
        program = words[place].rpartition("/")[2]
        if not _ASSIGNMENT.match(words[place]):
            found.append(" ".join(words[place:]))
            if program != words[place]:
                found.append(" ".join([program, *words[place + 1 :]]))
            look = BEHIND if program in _WRAPPERS or program in SHELLS else look - 1
        place += 1
    return found


def line_of(words: list[str]) -> str:
    """An argv as one line. What a shell is told to run is the line itself."""
    if len(words) >= 3 and words[0].rpartition("/")[2] in SHELLS:
        flag = words[1]
        if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
            return words[2] if len(words) == 3 else " ".join(map(_quote, words))
    return " ".join(map(_quote, words))


_PLAIN_WORD = re.compile(r"[\w@%+=:,./*?-]{1,10000}")


def _quote(word: str) -> str:
    if _PLAIN_WORD.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
