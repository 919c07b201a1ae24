"""Wrapping prose while it streams: a word is written when it is complete, or after a pause. Code,
tables and indented text keep their lines."""

import re

from rookery.cli.output.safe import columns

WIDEST = 76
"""Columns of prose at most."""

FENCE = "```"
ITEM = re.compile(r"([-*+]|\d{1,3}[.)])$")


class Wrap:
    def __init__(self, width: int) -> None:
        self._width = min(width, WIDEST)
        self._column = 0
        self._word = ""
        self._gap = ""
        self._indent = 0
        self._fenced = False
        self._plain = False
        """This line is not wrapped."""
        self._torn = False
        """The word's beginning is already written."""

    def feed(self, text: str) -> str:
        """Add text, and return what can be written now."""
        written: list[str] = []
        for sign in text:
            if sign == "\n":
                written += [self._placed(), "\n"]
                self._new_line()
            elif sign in " \t":
                written.append(self._placed())
                self._gap += sign
                self._torn = False
            else:
                self._word += sign
        return "".join(written)

    def hurry(self) -> str:
        """Return the incomplete word; the rest of it follows later."""
        begun = self._placed()
        self._torn = self._torn or bool(begun)
        return begun

    def end(self) -> str:
        """Return the last word of a text, and reset for the next one."""
        last = self._placed()
        self._new_line()
        self._fenced = False
        return last

    def _new_line(self) -> None:
        self._column, self._gap, self._indent, self._plain = 0, "", 0, False
        self._torn = False

    def _placed(self) -> str:
        """Return the current word, on this line or the next."""
        word, gap = self._word, self._gap
        if not word:
            return ""
        self._word, self._gap = "", ""
        if self._column == 0:
            self._begin(word, gap)
        wide, before = columns(word), columns(gap)
        over = self._column + before + wide > self._width
        fixed = self._fenced or self._plain or self._torn
        if over and self._column > self._indent and not fixed:
            self._column = self._indent + wide
            return "\n" + " " * self._indent + word
        self._column += before + wide
        return gap + word

    def _begin(self, word: str, gap: str) -> None:
        """Determine the kind of line from its first word."""
        if word.startswith(FENCE):
            self._fenced = not self._fenced
            self._plain = True
        elif word.startswith("|") or len(gap) >= 4:
            self._plain = True
        elif ITEM.match(word):
            self._indent = len(gap) + len(word) + 1
        else:
            self._indent = len(gap)


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
