"""Markdown as lines: headings, lists, tables, code, quotes, links."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec

from rookery.render import markdown, notation
from rookery.render.lines.texts import highlighted, source
from rookery.render.lines.view import View
from rookery.render.links import can_follow, target
from rookery.render.markdown import Node, Span
from rookery.render.runs import (
    Line,
    Run,
    clean,
    fold,
    prefixed,
    styled,
    trimmed,
    width_of,
    width_of_line,
    wrap,
)

CODE = 40
"""Columns of a code block's ground at least."""

DEEPEST = 12
"""Nesting that is still indented."""

BOXES = {"x": "☑ ", " ": "☐ "}

MARKS = {"strong": "bold", "em": "italic", "s": "strike", "code": "code", "link": "link"}
MARKS |= {"image": "link", "math": "italic", "note": "soft"}
"""The names for the marks of Markdown's spans."""


def prose(text: str, view: View) -> list[Line]:
    """Return a text as lines: laid out, or as it was written."""
    if view.source:
        return source(text)
    if not can_parse():
        return [row for line in source(text) for row in _unparsed(line, view)]
    return rendered(text, view.prose, view.width)


@cache
def can_parse() -> bool:
    """Tell whether the parser is installed: the command line does without."""
    return find_spec("markdown_it") is not None


def _unparsed(line: Line, view: View) -> list[Line]:
    text = "".join(text for text, _ in line)
    is_code = text.startswith(("    ", "|"))
    return fold(line, view.width) if is_code else wrap(line, view.prose)


def rendered(text: str, width: int, wide: int = 0) -> list[Line]:
    """Return a text as lines of at most `width` columns each, or `wide` for code and tables; no
    empty line at either end."""
    writer = _Writer(max(0, wide - width))
    lines = writer.blocks(markdown.blocks(text), max(width, 1), 0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


class _Writer:
    """Renders the nodes of a text. `more`: columns that code and tables may have beyond those of
    prose."""

    def __init__(self, more: int) -> None:
        self._more = more

    def blocks(self, nodes: Sequence[Node], width: int, depth: int) -> list[Line]:
        output: list[Line] = []
        for node in nodes:
            lines = self._block(node, width, depth)
            if output and lines and not node.tight:
                output.append([])
            output += lines
        return output

    def _block(self, node: Node, width: int, depth: int) -> list[Line]:
        match node.kind:
            case "paragraph" | "inline":
                return wrap(self._runs(node.spans, "ink"), width)
            case "heading":
                style = "heading underline" if node.info == "h1" else "heading"
                return wrap(self._runs(node.spans, style), width)
            case "bullet_list" | "ordered_list":
                return self._list(node, width, depth)
            case "blockquote":
                inner = self.blocks(node.children, max(width - 2, 1), depth + 1)
                return prefixed(inner, [("│ ", "faint")] if depth < DEEPEST and width > 4 else [])
            case "fence" if node.info == "mermaid":
                diagram = notation.diagrams.readable(node.text)
                return self._code(node._replace(text=diagram or node.text), width + self._more)
            case "fence" | "code_block":
                return self._code(node, width + self._more)
            case "hr":
                return [[("─" * min(width, 24), "line")]]
            case "table":
                heads = ["heading", *["ink"] * len(node.children)]
                rows = [
                    [self._runs(cell.spans, style) for cell in row.children]
                    for row, style in zip(node.children, heads, strict=False)
                ]
                first = node.children[0].children if node.children else ()
                aligned = [cell.info for cell in first]
                return laid_out(rows, width + self._more, aligned)
            case "math_block":
                return wrap([(node.text, "ink italic")], width)
            case "footnote":
                mark = f"[{node.info}] "
                inner = self.blocks(node.children, max(width - width_of(mark), 1), depth + 1)
                indent = [(" " * width_of(mark), "")]
                return prefixed(inner or [[]], [(mark, "soft")], indent)
            case "html_block":
                return wrap([(node.text.rstrip("\n"), "soft")], width)
        return []

    def _list(self, node: Node, width: int, depth: int) -> list[Line]:
        number = int(node.info)
        output: list[Line] = []
        for place, item in enumerate(node.children):
            bullet = ("• ", "◦ ", "▪ ")[min(depth, 2)]
            mark = f"{number + place}. " if node.kind == "ordered_list" else bullet
            mark = BOXES.get(item.info, mark)
            room = width - width_of(mark)
            if depth >= DEEPEST or room < 8:
                mark, room = "", width
            lines = self.blocks(item.children, room, depth + 1) or [[]]
            output += prefixed(lines, [(mark, "soft")], [(" " * width_of(mark), "")])
        return output

    def _code(self, node: Node, width: int) -> list[Line]:
        """Return code on its own background, with its language at the right of the first line."""
        edge: Line = [("  ", "ground")] if width > 8 else []
        room = width - 2 if edge else width
        lines = highlighted(node.text, node.info, "ground")
        if node.info in ("diff", "patch"):
            lines = [_changed(line) for line in lines]
        rows, used = list[Line](), list[int]()
        for line in lines:
            columns = width_of("".join([text for text, _ in line]))
            folded = [line] if columns <= room else fold(line, room)
            rows += folded
            used += [columns] if columns <= room else [width_of_line(row) for row in folded]
        label = f" {node.info} " if node.info and edge else ""
        wide = min(room, max(max(used, default=0) + 1, [*used, 0][0] + width_of(label), CODE))
        output: list[Line] = [
            [*row, (" " * (wide - each), _under(row))] for row, each in zip(rows, used, strict=True)
        ]
        if output and wide - used[0] >= width_of(label):
            blank = " " * (wide - used[0] - width_of(label))
            output[0] = [*rows[0], (blank, "ground"), (label, "soft ground")]
        return prefixed(output, edge)

    def _runs(self, spans: Sequence[Span], base: str) -> list[Run]:
        runs = list[Run]()
        for at, span in enumerate(spans):
            style = base
            for mark in span.marks:
                style = styled(style, MARKS[mark])
            if span.href and can_follow(span.href):
                style += f" link={span.href}"
            text = f"[{span.text}]" if {"image", "note"} & {*span.marks} else span.text
            runs.append((text, style))
            if "note" in span.marks:
                continue
            if span.href and (at + 1 == len(spans) or spans[at + 1].href != span.href):
                runs += _address(text, span.href)
        return runs


def _changed(line: Line) -> Line:
    """Return a patch's line on the background of its sign; lines naming files have none."""
    text = "".join(piece for piece, _ in line)
    if text.startswith(("+++", "---")) or text[:1] not in ("+", "-"):
        return line
    ground = "added" if text[0] == "+" else "removed"
    return [(text, f"ink {ground}")]


def _under(row: Line) -> str:
    """Return the background that continues behind a line."""
    last = row[-1][1].rpartition(" ")[2] if row else ""
    return last if last in ("added", "removed") else "ground"


def _address(label: str, address: str) -> Iterable[Run]:
    """Yield where a link leads, unless its label says so already, and why it may mislead."""
    link = target(address, label)
    address = clean(address)[:300]
    if label != address and (link is None or link.shown):
        yield f" ({address})", "faint"
    if link is not None and link.warning:
        yield f" ({link.warning})", "needs"


def laid_out(rows: list[list[list[Run]]], width: int, aligned: Sequence[str] = ()) -> list[Line]:
    """Return a table in columns, each aligned as specified, or one field per line if they do not
    fit."""
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return []
    rows = [[[(text.replace("\n", " "), s) for text, s in cell] for cell in row] for row in rows]
    wants = [
        max((width_of_line(row[at]) for row in rows if at < len(row)), default=0)
        for at in range(columns)
    ]
    room = width - 3 * (columns - 1)
    if room < 4 * columns:
        return [line for row in rows for cell in row for line in wrap(cell, width)]
    widths = shared(wants, room)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        cells = [wrap(row[at] if at < len(row) else [], widths[at]) for at in range(columns)]
        for height in range(max(len(cell) for cell in cells)):
            line: Line = []
            for at, cell in enumerate(cells):
                part = trimmed(cell[height], widths[at]) if height < len(cell) else []
                if at:
                    line.append((" │ ", "line"))
                free = widths[at] - width_of_line(part)
                how = aligned[at] if at < len(aligned) else ""
                before = {"right": free, "center": free // 2}.get(how, 0)
                line += [(" " * before, ""), *part]
                if at < columns - 1:
                    line.append((" " * (free - before), ""))
            lines.append(line)
        if number == 0:
            lines.append([("─┼─".join("─" * wide for wide in widths), "line")])
    return lines


def shared(wants: list[int], room: int) -> list[int]:
    """Return column widths: those that need little get it, the others share what is left."""
    widths = [0] * len(wants)
    left, open_ = room, sorted(range(len(wants)), key=lambda at: wants[at])
    while open_:
        at = open_.pop(0)
        widths[at] = max(1, min(wants[at], left // (len(open_) + 1)))
        left -= widths[at]
    return widths
