"""Markdown as lines: headings, lists, tables, code, quotes, links. Whatever is in the text, it is
shown as text."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rich.style import Style

from rookery.tui.look.palette import Look
from rookery.tui.look.plain import clean, width_of
from rookery.tui.look.runs import Line, Run, fold, prefixed, trimmed, width_of_line, wrap
from rookery.tui.look.text.code import highlighted

DEEPEST = 12
"""Nesting that is still indented."""


def rendered(text: str, width: int, look: Look, wide: int = 0) -> list[Line]:
    """The lines of a text, at most `width` columns each, or `wide` of code and tables; no empty
    line at either end."""
    tokens = _parser().parse(clean(text))
    lines = _Writer(look, max(0, wide - width)).blocks(tokens, max(width, 1), 0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 30}).enable(["table", "strikethrough"])


class _Writer:
    """Walks markdown-it's flat list of tokens."""

    def __init__(self, look: Look, more: int) -> None:
        self._look = look
        self._more = more
        """Columns that code and tables may have beyond those of prose."""
        self._at = 0

    def blocks(self, tokens: list[Any], width: int, depth: int, end: str = "") -> list[Line]:
        """The blocks up to the token `end`, which is passed; an empty line between two of them."""
        found: list[Line] = []
        while self._at < len(tokens):
            token = tokens[self._at]
            self._at += 1
            if token.type == end:
                break
            lines = self._block(tokens, token, width, depth)
            tight = bool(getattr(token, "hidden", False)) or token.type.startswith("list_item")
            if found and lines and not tight and not self._glued(token):
                found.append([])
            found += lines
        return found

    @staticmethod
    def _glued(token: Any) -> bool:
        return token.type in ("bullet_list_open", "ordered_list_open") and token.level > 1

    def _block(self, tokens: list[Any], token: Any, width: int, depth: int) -> list[Line]:
        match token.type:
            case "paragraph_open":
                return self._paragraph(tokens, width)
            case "heading_open":
                return self._heading(tokens, token, width)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(tokens, token, width, depth)
            case "blockquote_open":
                inner = self.blocks(tokens, max(width - 2, 1), depth + 1, "blockquote_close")
                bar: Line = [("│ ", self._look.faint)] if depth < DEEPEST and width > 4 else []
                return prefixed(inner, bar)
            case "fence" | "code_block":
                return self._code(token, width + self._more)
            case "hr":
                return [[("─" * min(width, 24), self._look.line)]]
            case "table_open":
                return self._table(tokens, width + self._more)
            case "inline":
                return wrap(self._inline(token, self._look.ink), width)
            case "html_block":
                return wrap([(token.content.rstrip("\n"), self._look.soft)], width)
        return []

    def _paragraph(self, tokens: list[Any], width: int) -> list[Line]:
        inline = tokens[self._at]
        self._at += 2
        return wrap(self._inline(inline, self._look.ink), width)

    def _heading(self, tokens: list[Any], token: Any, width: int) -> list[Line]:
        inline = tokens[self._at]
        self._at += 2
        style = self._look.heading + (Style(underline=True) if token.tag == "h1" else Style())
        return wrap(self._inline(inline, style), width)

    def _list(self, tokens: list[Any], token: Any, width: int, depth: int) -> list[Line]:
        ordered = token.type == "ordered_list_open"
        end = token.type.replace("_open", "_close")
        number = int(token.attrs.get("start", 1)) if ordered else 0
        found: list[Line] = []
        while self._at < len(tokens):
            item = tokens[self._at]
            self._at += 1
            if item.type == end:
                break
            mark = f"{number}. " if ordered else ("• ", "◦ ", "▪ ")[min(depth, 2)]
            number += 1
            room = width - width_of(mark)
            if depth >= DEEPEST or room < 8:
                mark, room = "", width
            lines = self.blocks(tokens, room, depth + 1, "list_item_close") or [[]]
            lines, mark = _ticked(lines, mark)
            found += prefixed(
                lines, [(mark, self._look.soft)], [(" " * width_of(mark), self._look.plain)]
            )
        return found

    def _code(self, token: Any, width: int) -> list[Line]:
        language = token.info.strip().split()[0] if token.info.strip() else ""
        edge: Line = [("  ", self._look.plain)] if width > 8 else []
        room = width - 2 if edge else width
        found: list[Line] = []
        for line in highlighted(token.content.removesuffix("\n"), language, self._look):
            found += fold(line, room)
        return prefixed(found, edge)

    # --- inline --------------------------------------------------------------------------------

    def _inline(self, token: Any, base: Style) -> list[Run]:
        look, styles, runs = self._look, [base], list[Run]()
        addresses: list[str] = []
        openers: dict[str, Callable[[Style], Style]] = {
            "strong_open": lambda style: style + look.bold,
            "em_open": lambda style: style + look.italic,
            "s_open": lambda style: style + look.strike,
            "link_open": lambda style: style + look.link,
        }
        for child in token.children or []:
            kind = child.type
            if kind in openers:
                styles.append(openers[kind](styles[-1]))
                if kind == "link_open":
                    addresses.append(str(child.attrs.get("href", "")))
            elif kind.endswith("_close"):
                if len(styles) > 1:
                    styles.pop()
                if kind == "link_close" and addresses:
                    runs += _address(runs, addresses.pop(), look)
            elif kind == "code_inline":
                runs.append((child.content, styles[-1] + look.code))
            elif kind == "softbreak":
                runs.append((" ", styles[-1]))
            elif kind == "hardbreak":
                runs.append(("\n", styles[-1]))
            elif kind == "image":
                words = child.content or "image"
                runs.append((f"[{words}]", styles[-1] + look.link))
                runs += _address(runs, str(child.attrs.get("src", "")), look)
            else:
                runs.append((child.content, styles[-1]))
        return [(clean(text), style) for text, style in runs]

    # --- tables --------------------------------------------------------------------------------

    def _table(self, tokens: list[Any], width: int) -> list[Line]:
        rows: list[list[list[Run]]] = []
        while self._at < len(tokens):
            token = tokens[self._at]
            self._at += 1
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline" and rows:
                style = self._look.ink if len(rows) > 1 else self._look.heading
                rows[-1].append(self._inline(token, style))
        return laid_out(rows, width, self._look)


def _ticked(lines: list[Line], mark: str) -> tuple[list[Line], str]:
    """`[x]` at the start of an item is a box that is ticked."""
    first = "".join(text for text, _ in lines[0][:3])
    for sign, box in (("[x]", "☑ "), ("[X]", "☑ "), ("[ ]", "☐ ")):
        if first.startswith(sign) and mark:
            left = 3
            line: Line = []
            for text, style in lines[0]:
                line.append((text[left:], style))
                left = max(0, left - len(text))
            line = [run for run in line if run[0]]
            if line and line[0][0].isspace():
                line = line[1:]
            return [line, *lines[1:]], box
    return lines, mark


def _address(runs: list[Run], address: str, look: Look) -> list[Run]:
    """Where a link leads, unless its words say so already."""
    said = runs[-1][0] if runs else ""
    address = clean(address)[:300]
    if not address or said in (address, address.removeprefix("mailto:")):
        return []
    return [(f" ({address})", look.faint)]


def laid_out(rows: list[list[list[Run]]], width: int, look: Look) -> list[Line]:
    """A table in columns, or one field a line where the columns do not fit."""
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
    found: list[Line] = []
    for number, row in enumerate(rows):
        cells = [wrap(row[at] if at < len(row) else [], widths[at]) for at in range(columns)]
        for height in range(max(len(cell) for cell in cells)):
            line: Line = []
            for at, cell in enumerate(cells):
                part = trimmed(cell[height], widths[at]) if height < len(cell) else []
                if at:
                    line.append((" │ ", look.line))
                line += part
                if at < columns - 1:
                    line.append((" " * (widths[at] - width_of_line(part)), look.plain))
            found.append(line)
        if number == 0:
            found.append([("─┼─".join("─" * wide for wide in widths), look.line)])
    return found


def shared(wants: list[int], room: int) -> list[int]:
    """Columns that want little get it; the others share what is left."""
    widths = [0] * len(wants)
    left, open_ = room, sorted(range(len(wants)), key=lambda at: wants[at])
    while open_:
        at = open_.pop(0)
        widths[at] = max(1, min(wants[at], left // (len(open_) + 1)))
        left -= widths[at]
    return widths
