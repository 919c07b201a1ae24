"""Incremental rendering of text that is still being written: the work is proportional to what is
new, never to the whole text.

What is shown depends on the whole text only, not on the chunks in which it arrived. `Prose` renders
Markdown as finished pieces and an unfinished tail; `Output` renders what a command printed, as
lines."""

import re
from collections import deque
from typing import NamedTuple

from rookery.core.json.secrets import masked, unfinished
from rookery.export.html import markdown
from rookery.export.html.block import LONGEST_TEXT
from rookery.export.html.code import MOST_LINES, left_out, printed_line
from rookery.export.html.text import esc, esc_line, tag
from rookery.render.runs import clean
from rookery.render.terminal import UP, Screen, Style

_FENCE = re.compile(r"(`{3,}|~{3,})([^`\n]*)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t\n])")
_MAYBE_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]?)?\Z")
_DEFINES = re.compile(r"^ {0,3}\[[^\]\n]+\]:", re.MULTILINE)

LONGEST_PIECE, LONGEST_CODE = 24_000, 60_000
"""Characters after which a piece ends with any line."""

LONGEST_LINE = 12_000
"""Characters of one line after which a piece ends in the middle of it, at a blank if there is one:
no browser lays out a line of a megabyte again and again."""

LONGEST_TAIL = 1_500
"""Characters of an unfinished piece whose finished lines are shown as Markdown."""

SEGMENT = 2_000
"""Characters of a line without an end that are looked at again."""


KEY = "-----BEGIN"
"""Begins the first line of a private key."""


class Tail(NamedTuple):
    """The visible part of a piece that is not finished."""

    lines: str = ""
    """Markdown that is rendered: whole lines."""
    fence: str | None = None
    """The language of the code that it is."""
    raw: str = ""
    """Shown as it is."""
    top: int = 0
    """The level of the text's first heading; 0: there was none before this."""

    def html(self) -> str:
        if self.fence is not None:
            label = (
                f'<span class="language">{esc_line(self.fence, 40)}</span>' if self.fence else ""
            )
            code = f'<code class="raw">{esc(self.raw)}</code>'
            return f'<div class="code">{label}<pre tabindex="0">{code}</pre></div>'
        above = markdown.rendered(self.lines, self.top) if self.lines else ""
        return f'{above}<span class="raw" dir="auto">{esc(self.raw)}</span>'


class Prose:
    """Renders Markdown incrementally, as text is fed to it."""

    def __init__(self, text: str = "") -> None:
        self.pieces: list[str] = []
        """As Markdown; each is rendered by itself."""
        self._piece = ""  # what is not among them
        self._scanned = 0  # of it, whole lines
        self._fence = ""
        self._listed = False  # it is a list, which an empty line does not end
        self._room = LONGEST_TEXT
        self._raw, self._fixed = "", 0  # of the piece: what is shown of its first characters
        self._top = 0  # the level of the first heading
        self.length = 0
        self.feed(text)

    def feed(self, text: str) -> None:
        if not self.length and not self._piece:
            text = text.lstrip("\n")
        self.length += len(text)
        text, self._room = text[: self._room], max(0, self._room - len(text))
        self._piece += text
        while self._step():
            pass

    def _step(self) -> bool:
        """Process the next complete line. Return False if there is none, or if its meaning depends
        on what follows."""
        end = self._piece.find("\n", self._scanned)
        if end < 0 or end - self._scanned > LONGEST_LINE:
            return self._cut_line()
        line, after = self._piece[self._scanned : end], end + 1
        begins = self._scanned == 0
        if self._fence:
            if self._closes(line):
                self._fence = ""
                self._cut(after)
            elif after >= LONGEST_CODE:
                fence = self._fence
                self._cut(after)
                self._reopen(fence)
            else:
                self._scanned = after
            return True
        opening = _FENCE.match(line)
        if (opening or _HEADING.match(line)) and not begins:
            self._cut(self._scanned)  # it ends any list and paragraph above it
            return True
        if opening:
            self._fence, self._scanned = line.strip()[:60], after
            return True
        if begins and not line.strip():
            self._piece = self._piece[after:]
            return True
        if begins:
            self._listed = _ITEM.match(line + "\n") is not None
        if _HEADING.match(line) or after >= LONGEST_PIECE:
            self._cut(after)
            return True
        if not line.strip():
            goes_on = self._goes_on(after)
            if goes_on is None:
                return False
            if not goes_on:
                self._cut(after)
                return True
        self._scanned = after
        return True

    def _cut_line(self) -> bool:
        """Cut an unfinished line that is too long; return whether it was."""
        begin = self._scanned
        if len(self._piece) - begin <= LONGEST_LINE:
            return False
        fence = self._fence
        at = self._piece.rfind(" ", begin + LONGEST_LINE // 2, begin + LONGEST_LINE) + 1
        self._cut(at or begin + LONGEST_LINE)
        if fence:
            self._reopen(fence)
        return True

    def _closes(self, line: str) -> bool:
        match = _FENCE.match(line)
        return bool(
            match and match.group(1).startswith(self._fence[:3]) and not match.group(2).strip()
        )

    def _goes_on(self, at: int) -> bool | None:
        """Tell whether what follows an empty line belongs to the list above it; None if that is not
        known yet."""
        if at >= len(self._piece):
            return None
        if not self._listed:
            return False
        line = self._piece[at : at + 12]
        if line[0] in " \t\n" or _ITEM.match(line):
            return True
        return None if "\n" not in line and _MAYBE_ITEM.match(line) else False

    def _cut(self, at: int) -> None:
        piece, self._piece = self._piece[:at], self._piece[at:]
        self._scanned, self._listed, self._raw, self._fixed = 0, False, "", 0
        if piece.strip():
            self.pieces.append(piece)
            self._top = self._top or (0 if _FENCE.match(piece) else markdown.top_of(piece))

    def _reopen(self, fence: str) -> None:
        self._piece = f"{fence}\n{self._piece}"
        self._fence, self._scanned = fence, len(fence) + 1

    def tail(self) -> Tail:
        """Return the unfinished tail, without anything that may be the beginning of a secret."""
        if self._fence:
            begin = self._piece.find("\n") + 1
            tokens = (_FENCE.match(self._fence) or [""] * 3)[2].split()
            return Tail(fence=tokens[0] if tokens else "", raw=self._shown(begin))
        whole = self._piece.rfind("\n") + 1
        if whole > LONGEST_TAIL:
            return Tail(raw=self._shown(0))
        raw = self._piece[whole:]
        shown = self._shown(whole) if len(raw) > SEGMENT else clean(masked(raw[: unfinished(raw)]))
        return Tail(masked(self._piece[:whole]), None, shown, self._top)

    def _shown(self, begin: int) -> str:
        """Return the piece from `begin` on, made safe. Text that no secret can reach into any more
        is processed only once."""
        if self._fixed < begin:
            self._raw, self._fixed = "", begin
        while len(self._piece) - self._fixed > 2 * SEGMENT:
            end = self._piece.find("\n", self._fixed + SEGMENT, self._fixed + 2 * SEGMENT) + 1
            end = end or self._fixed + 2 * SEGMENT
            if KEY in self._piece[self._fixed : end]:
                break  # which has many lines
            self._raw += clean(masked(self._piece[self._fixed : end]))
            self._fixed = end
        rest = self._piece[self._fixed :]
        return self._raw + clean(masked(rest[: unfinished(rest)]))

    def rendered(self, first: int = 0) -> str:
        """Render the finished pieces from index `first` on."""
        return "".join(piece_html(each, self._top) for each in self.pieces[first:])

    def html(self, *, over: bool) -> str:
        """Render the whole text; `over` means that nothing more will come."""
        if not over:
            return self.rendered() + tag("div", self.tail().html(), "tail")
        return self.rendered() + self.last()

    def last(self) -> str:
        """Render the tail once nothing more will come."""
        html = piece_html(self._piece, self._top) if self._piece.strip() else ""
        cut = self.length - LONGEST_TEXT
        return html + (tag("p", left_out(cut, "more character")) if cut > 0 else "")

    def refers(self) -> bool:
        """Tell whether pieces refer to each other; if so, the text is rendered anew when it is
        complete."""
        return any(map(_DEFINES.search, [*self.pieces, self._piece]))

    def whole(self) -> str:
        return markdown.rendered(masked("".join([*self.pieces, self._piece])))


def piece_html(text: str, top: int) -> str:
    return markdown.rendered(masked(text).strip("\n"), top)


# --- what a command printed ----------------------------------------------------------------------

LONGEST_OUTPUT = 400_000
"""Characters that are looked at when much was printed; half of them are let go at a time."""


class Lines(NamedTuple):
    """A change of the lines that were shown."""

    lost: int
    """How many are left out above; -1: it is not known."""
    cut: int
    """How many go at the end; -1: all."""
    more: list[str]
    """What comes there, as HTML."""
    kept: int
    """How many there are then: others go at the top."""


class Output:
    """Renders a command's output incrementally, as text is fed to it: the end of what a terminal
    would show."""

    def __init__(self, text: str = "") -> None:
        self._text: list[str] = []
        self._size = 0
        self._known = True  # how many lines there are
        self._begin()
        self._sent: tuple[int, list[str]] = (-1, [])
        self.feed(text)

    def _begin(self) -> None:
        self._screen = Screen()
        self._line = ""  # without an end so far
        self._blank = True
        self._fixed: deque[str] = deque(maxlen=MOST_LINES - UP)
        """Lines that the cursor cannot reach any more."""
        self._number = 0  # of lines that were ever among them
        self._key = False

    def feed(self, text: str) -> None:
        self._text.append(text)
        self._size += len(text)
        if self._size > LONGEST_OUTPUT:
            self._let_go()
        else:
            self._write(text)

    def _let_go(self) -> None:
        """Drop old output, cutting at places that depend on the text alone: the first line end
        behind each half."""
        whole, half = "".join(self._text), LONGEST_OUTPUT // 2
        while len(whole) > LONGEST_OUTPUT:
            end = whole.find("\n", half, LONGEST_OUTPUT) + 1
            whole = whole[end or half :]
        self._text, self._size, self._known = [whole], len(whole), False
        self._begin()
        self._sent = (-1, [])
        self._write(whole)

    def _write(self, text: str) -> None:
        if self._blank:
            text = text.lstrip("\n")
            self._blank = not text
        whole, end, self._line = (self._line + text).rpartition("\n")
        for row in whole.split("\n") if end else ():
            self._screen.write(self._without_secrets(row.removesuffix("\r")))
            self._screen.new_line()
            if (above := self._screen.row - UP) > 0:
                self._fixed.extend(map(_line, self._screen.lines(above)))
                self._screen.forget(above)
                self._number += above

    def _without_secrets(self, row: str) -> str:
        """Mask secrets in a row. A private key spans many lines: all after the first become
        empty."""
        if self._key:
            self._key = "-----END" not in row
            return ""
        self._key = KEY in row and "PRIVATE KEY" in row and "-----END" not in row
        return masked(row)

    def _shown(self) -> tuple[int, list[str]]:
        """Return the number of the first line that may still change, and those lines."""
        mark = self._screen.mark()
        if not self._key:
            self._screen.write(masked(self._line[: unfinished(self._line)]))
        rows = self._screen.lines()
        self._screen.go_back(mark)
        while rows and not any(text for text, _ in rows[-1]):
            rows.pop()
        return self._number, list(map(_line, rows))

    def _lost(self) -> int:
        """Return how many lines are left out above, or -1 if that is not known."""
        return self._number - len(self._fixed) if self._known else -1

    def html(self) -> str:
        """Render all that is shown; the next `news` is relative to it."""
        _, rows = self._sent = self._shown()
        lines = "".join([*self._fixed, *rows])
        return f'<code class="lines"{lost_attribute(self._lost())}>{lines}</code>'

    def begin(self) -> None:
        """Mark the current state as shown; the next `news` is relative to it."""
        self._sent = self._shown()

    def news(self) -> Lines | None:
        """Return what changed since the last call, or None if nothing did."""
        (before, old), (first, rows) = self._sent, self._shown()
        self._sent = first, rows
        passed, kept = first - before, len(self._fixed) + len(rows)
        if before < 0 or passed > len(self._fixed):
            return Lines(self._lost(), -1, [*self._fixed, *rows], kept)
        now = [*(list(self._fixed)[-passed:] if passed else ()), *rows]
        same = 0
        while same < min(len(old), len(now)) and old[same] == now[same]:
            same += 1
        if same == len(old) == len(now):
            return None
        return Lines(self._lost(), len(old) - same, now[same:], kept)


def _line(row: list[tuple[str, Style]]) -> str:
    return tag("span", printed_line(row))


def lost_attribute(lost: int) -> str:
    return f' data-lost="{lost if lost > 0 else ""}"' if lost else ""
