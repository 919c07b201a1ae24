"""Small charts rendered as SVG: columns by day, and bars in a table. Each also has its numbers as
text, for screen readers."""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.export.html.text import esc_line, tag

WIDE, HIGH, GAP = 720, 160, 2
BAR = 200


class Point(NamedTuple):
    name: str
    """Of the axis."""
    value: float
    label: str
    """The value, for people."""


class Line(NamedTuple):
    title: str
    link: str
    """An address of ours; "": none."""
    value: float
    cells: tuple[str, ...]


def columns(points: Sequence[Point], caption: str) -> str:
    """Render one column per point, with the numbers in a collapsible table below."""
    most = max((each.value for each in points), default=0.0) or 1.0
    step = WIDE / max(1, len(points))
    drawn = "".join(_column(each, at * step, step, most) for at, each in enumerate(points))
    every = max(1, -(-len(points) // 10))
    named = "".join(
        f'<text x="{max(24.0, at * step + step / 2):.1f}" y="{HIGH + 16}" text-anchor="middle">'
        f"{esc_line(each.name)}</text>"
        for at, each in enumerate(points)
        if at % every == 0
    )
    peak = max(points, key=lambda each: each.value, default=None)
    top = (
        f'<text x="0" y="10" class="peak">{esc_line(peak.label)}</text>'
        if peak and peak.value
        else ""
    )
    rows = "".join(
        f"<tr><th scope=row>{esc_line(each.name)}</th><td>{esc_line(each.label)}</td></tr>"
        for each in points
    )
    table = f"<table><caption>{esc_line(caption)}</caption><tbody>{rows}</tbody></table>"
    return (
        f'<figure class="chart"><svg viewBox="0 0 {WIDE} {HIGH + 20}" role="img" '
        f'aria-label="{esc_line(caption)}: a chart; the numbers follow as a table">'
        f'<path class="axis" d="M0 {HIGH + 0.5}H{WIDE}"/>{drawn}{named}{top}</svg>'
        f"<details><summary>As a table</summary>{table}</details></figure>"
    )


def _column(point: Point, x: float, step: float, most: float) -> str:
    high = point.value / most * (HIGH - 20)
    high = max(high, 2.0) if point.value else 0.0
    wide = max(1.0, min(40.0, step - GAP))
    left = x + (step - wide) / 2
    return (
        f'<rect x="{left:.1f}" y="{HIGH - high:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'rx="{min(2.0, wide / 3):.1f}"><title>{esc_line(f"{point.name}: {point.label}")}</title>'
        "</rect>"
    )


def bars(heads: Sequence[str], lines: Sequence[Line], caption: str) -> str:
    """Render a table with a bar in each row. The first head is for the titles, the second for the
    bars."""
    most = max((each.value for each in lines), default=0.0) or 1.0
    head = "".join(f'<th scope="col">{esc_line(each)}</th>' for each in heads)
    head = head.replace("</th>", '</th><td class="bar"></td>', 1)
    body = "".join(_bar(each, most) for each in lines)
    return (
        f'<div class="wide"><table class="bars"><caption class="unseen">{esc_line(caption)}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _bar(line: Line, most: float) -> str:
    title = esc_line(line.title, 120)
    name = f'<a href="{esc_line(line.link)}">{title}</a>' if line.link else title
    long = line.value / most * BAR
    drawn = (
        f'<svg viewBox="0 0 {BAR} 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{long:.1f}" height="12" rx="2"/></svg>'
    )
    cells = "".join(tag("td", esc_line(each)) for each in line.cells)
    return f'<tr><th scope="row" dir="auto">{name}</th><td class="bar">{drawn}</td>{cells}</tr>'
