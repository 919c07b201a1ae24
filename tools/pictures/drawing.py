"""Draw what a terminal showed, one frame after the other, as one SVG that moves by itself.

A row is drawn once for each stretch of time in which it stays the same. Boxes and blocks are drawn
as shapes, so that they join whatever font the viewer has; everything else is text, fitted to its
cells. Where motion is not wanted, the frame `still` is shown.
"""

import html
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.style import Style
from rich.text import Text

WIDE, HIGH = 8.3, 18.0
"""A cell, in pixels."""
EDGE, STRIP = 14.0, 36.0
BACK, FORE = "#14171a", "#e6e3dc"
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

BLOCKS = {
    "█": [(0, 0, 8, 8)],
    "▀": [(0, 0, 8, 4)],
    "▄": [(0, 4, 8, 4)],
    "▌": [(0, 0, 4, 8)],
    "▐": [(4, 0, 4, 8)],
    "▎": [(0, 0, 2, 8)],
    "▍": [(0, 0, 3, 8)],
    "▏": [(0, 0, 1, 8)],
    "▟": [(4, 0, 4, 8), (0, 4, 4, 4)],
    "▙": [(0, 0, 4, 8), (4, 4, 4, 4)],
    "▁": [(0, 7, 8, 1)],
    "▂": [(0, 6, 8, 2)],
    "▃": [(0, 5, 8, 3)],
    "▅": [(0, 3, 8, 5)],
    "▆": [(0, 2, 8, 6)],
    "▇": [(0, 1, 8, 7)],
}
"""Left, top, width and height of what is filled, in eighths of a cell."""
LINES = {
    "│": "M.5 0V1",
    "┃": "M.5 0V1",
    "─": "M0 .5H1",
    "━": "M0 .5H1",
    "╭": "M.5 1V.7Q.5 .5 .8 .5H1",
    "╮": "M.5 1V.7Q.5 .5 .2 .5H0",
    "╰": "M.5 0V.3Q.5 .5 .8 .5H1",
    "╯": "M.5 0V.3Q.5 .5 .2 .5H0",
    "┌": "M.5 1V.5H1",
    "┐": "M.5 1V.5H0",
    "└": "M.5 0V.5H1",
    "┘": "M.5 0V.5H0",
    "├": "M.5 0V1M.5 .5H1",
    "┤": "M.5 0V1M.5 .5H0",
}
"""Strokes, in a cell of one by one."""


class Frame(NamedTuple):
    shown: str
    """The screen, with its escape sequences."""
    seconds: float
    keys: int = 0
    """How many keys have been pressed by now."""


class Run(NamedTuple):
    column: int
    text: str
    style: Style


def animation(
    frames: Sequence[Frame],
    size: tuple[int, int],
    *,
    label: str,
    keys: Sequence[str] = (),
    still: int = 0,
) -> str:
    columns, rows = size
    wide = columns * WIDE + 2 * EDGE
    high = rows * HIGH + 2 * EDGE + (STRIP if keys else 0)
    timeline = Timeline(frames, still)
    screens = [rows_of(frame.shown, rows) for frame in frames]
    body = []
    for row in range(rows):
        body += timeline.stretches(
            [draw_row(screen[row], EDGE + row * HIGH) for screen in screens],
        )
    if keys:
        top = EDGE * 1.5 + rows * HIGH
        pressed = [draw_keys(keys, frame.keys, wide / 2, top) for frame in frames]
        body += timeline.stretches(pressed)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" role="img" '
        f'aria-label="{html.escape(label)}" font-family="{FONT}" font-size="13.6">'
        f"<style>text{{white-space:pre}}{timeline.sheet()}</style>"
        f'<rect x=".5" y=".5" width="{wide - 1:g}" height="{high - 1:g}" rx="9" fill="{BACK}" '
        f'stroke="#4a5159"/>' + "".join(body) + "</svg>\n"
    )


class Timeline:
    """When something is shown: a class for each stretch of time, with its keyframes."""

    def __init__(self, frames: Sequence[Frame], still: int) -> None:
        self._still, self._frames = still % len(frames), len(frames)
        self._starts = [sum(frame.seconds for frame in frames[:n]) for n in range(len(frames) + 1)]
        self._names: dict[tuple[int, int], str] = {}

    def stretches(self, drawn: Sequence[str]) -> list[str]:
        """What is the same in neighbouring frames, once, in a group that appears and goes."""
        groups = []
        for content, of in groupby(range(len(drawn)), key=drawn.__getitem__):
            first, *rest = of
            end = (rest[-1] if rest else first) + 1
            if content:
                groups.append(f"<g{self._shown(first, end)}>{content}</g>")
        return groups

    def _shown(self, first: int, end: int) -> str:
        if (first, end) == (0, self._frames):
            return ""
        name = self._names.setdefault((first, end), f"t{len(self._names)}")
        return f' class="{name}"'

    def sheet(self) -> str:
        total = self._starts[-1]
        rules = ["@media(prefers-reduced-motion:reduce){g{animation:none!important}}"]
        for (first, end), name in self._names.items():
            start, stop = (self._starts[at] / total * 100 for at in (first, end))
            steps = f"{start:.2f}%{{visibility:visible}}"
            if first:
                steps = "0%{visibility:hidden}" + steps
            if end < self._frames:
                steps += f"{stop:.2f}%,100%{{visibility:hidden}}"
            else:
                steps += "100%{visibility:visible}"
            at_rest = "visible" if first <= self._still < end else "hidden"
            rules.append(
                f".{name}{{visibility:{at_rest};animation:{name} {total:.2f}s step-end infinite}}"
                f"@keyframes {name}{{{steps}}}"
            )
        return "".join(rules)


def rows_of(shown: str, rows: int) -> list[list[Run]]:
    lines = list(AnsiDecoder().decode(shown))[:rows]
    lines += [Text()] * (rows - len(lines))
    return [runs_of(line) for line in lines]


def runs_of(line: Text) -> list[Run]:
    runs, column = [], 0
    for segment in line.render(Console(color_system="truecolor", width=1000), end=""):
        runs.append(Run(column, segment.text, segment.style or Style()))
        column += len(segment.text)
    return runs


def draw_row(runs: Sequence[Run], top: float) -> str:
    return "".join(fill(run, top) for run in runs) + "".join(draw_run(run, top) for run in runs)


def colours(style: Style) -> tuple[str, str]:
    fore = style.color.get_truecolor().hex if style.color else FORE
    back = style.bgcolor.get_truecolor().hex if style.bgcolor else BACK
    return (back, fore) if style.reverse else (fore, back)


def fill(run: Run, top: float) -> str:
    back = colours(run.style)[1]
    if back == BACK:
        return ""
    return rect(EDGE + run.column * WIDE, top, len(run.text) * WIDE, HIGH, back)


def rect(left: float, top: float, wide: float, high: float, colour: str) -> str:
    return (
        f'<rect x="{left:.5g}" y="{top:.5g}" width="{wide:.5g}" height="{high:.5g}" '
        f'fill="{colour}" shape-rendering="crispEdges"/>'
    )


def draw_run(run: Run, top: float) -> str:
    fore = colours(run.style)[0]
    drawn, column = [], run.column
    for kind, characters in groupby(run.text, key=kind_of):
        text = "".join(characters)
        left = EDGE + column * WIDE
        column += len(text)
        if kind == "block":
            for place, character in enumerate(text):
                for x, y, wide, high in BLOCKS[character]:
                    at = left + place * WIDE + x * WIDE / 8
                    drawn.append(
                        rect(at, top + y * HIGH / 8, wide * WIDE / 8, high * HIGH / 8, fore)
                    )
        elif kind == "line":
            drawn.append(draw_lines(text, left, top, fore))
        elif kind == "text":
            drawn.append(draw_text(text, left, top, run.style, fore))
        elif kind == "sign":
            drawn += [
                f'<text x="{left + (place + 0.5) * WIDE:.5g}" y="{top + 13.2:.5g}" '
                f'text-anchor="middle" fill="{fore}">{html.escape(sign)}</text>'
                for place, sign in enumerate(text)
            ]
    return "".join(drawn)


def kind_of(character: str) -> str:
    if character in BLOCKS:
        return "block"
    if character in LINES:
        return "line"
    return "text" if character.isascii() or character.isalpha() or character in "…·–“”’" else "sign"


def draw_lines(text: str, left: float, top: float, colour: str) -> str:
    heavy = 2.4 if text[0] in "┃━" else 1.2
    if len(text) > 1 and set(text) <= {"─", "━"}:
        paths = f'<path d="M{left:.5g} {top + HIGH / 2:.5g}h{len(text) * WIDE:.5g}"/>'
    else:
        paths = "".join(
            f'<path transform="translate({left + place * WIDE:.5g} {top:.5g}) '
            f'scale({WIDE} {HIGH:g})" d="{LINES[character]}" vector-effect="non-scaling-stroke"/>'
            for place, character in enumerate(text)
        )
    return f'<g fill="none" stroke="{colour}" stroke-width="{heavy}">{paths}</g>'


def draw_text(text: str, left: float, top: float, style: Style, colour: str) -> str:
    """The words, without the spaces around them, each run as wide as its cells."""
    words = text.strip()
    if not words:
        return ""
    left += (len(text) - len(text.lstrip())) * WIDE
    looks = "".join(
        look
        for wanted, look in (
            (style.bold, ' font-weight="700"'),
            (style.italic, ' font-style="italic"'),
            (style.underline, ' text-decoration="underline"'),
            (style.strike, ' text-decoration="line-through"'),
            (style.dim, ' opacity=".65"'),
        )
        if wanted
    )
    return (
        f'<text x="{left:.5g}" y="{top + 13.2:.5g}" textLength="{len(words) * WIDE:.5g}" '
        f'lengthAdjust="spacingAndGlyphs" fill="{colour}"{looks}>{html.escape(words)}</text>'
    )


def draw_keys(keys: Sequence[str], pressed: int, middle: float, top: float) -> str:
    """The keys below the screen; the last one pressed is lit."""
    drawn, wide = "", 44.0
    left = middle - (len(keys) * (wide + 10) - 10) / 2
    for place, key in enumerate(keys):
        lit, done = place == pressed - 1, place < pressed
        colour = "#14171a" if lit else FORE if done else "#8a9199"
        drawn += (
            f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="27" rx="6" '
            f'fill="{"#f0b34a" if lit else "#22272c"}" stroke="#4a5159"/>'
            f'<text x="{left + wide / 2:g}" y="{top + 18.5:g}" text-anchor="middle" '
            f'font-weight="700" fill="{colour}">{html.escape(key)}</text>'
        )
        left += wide + 10
    return drawn
