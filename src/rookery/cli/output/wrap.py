"""Wrapping sentences to the width of a terminal."""

import re

from rookery.cli.output.safe import columns

ITEM = re.compile(r"([-*+]|\d{1,3}[.)])$")
_PAINT = re.compile(r"\x1b\[[0-9;]*m")
COMMAND = re.compile(r"(?<=: )rookery( [\w-]+){1,4}\.?$")


def wrapped(text: str, width: int) -> str:
    """Wrap sentences to lines of `width` columns, indented like their first line. A wider word
    stays whole: it may be a path or a command."""
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    if _seen(line) <= width:
        return line
    tokens = _tokens(line)
    margin = len(line) - len(line.lstrip(" "))
    first = _PAINT.sub("", tokens[margin]) if margin < len(tokens) else ""
    if first and (ITEM.match(first) or not first[0].isalnum()) and len(first) <= 2:
        margin += len(first) + 1  # below the words, not below their sign
    margin = margin if margin <= width // 3 else 0
    rows, row = list[str](), tokens[0]
    for word in tokens[1:]:
        if row.strip() and _seen(row) + 1 + _seen(word) > width:
            rows.append(row.rstrip())
            row = " " * margin + word
        else:
            row = f"{row} {word}"
    return "\n".join([*rows, row])


def _tokens(line: str) -> list[str]:
    """Split a line into words. A command at its end is one word, so that it can be copied."""
    match = COMMAND.search(line)
    if match is None:
        return line.split(" ")
    return [*line[: match.start() - 1].split(" "), match[0]]


def _seen(text: str) -> int:
    return columns(_PAINT.sub("", text))
