"""Rendering Markdown as HTML, from the blocks that `render` parses. HTML in it stays text."""

import re
from collections.abc import Iterable
from itertools import groupby

from rookery.export.html.code import highlighted
from rookery.export.html.text import esc, esc_line, link, tag
from rookery.render import markdown
from rookery.render.markdown import Node, Span
from rookery.render.notation import diagrams
from rookery.render.stretches import starts_of, stretch

WHOLE, LEAST, MAX_STRETCH = 48_000, 12_000, 24_000
"""Characters: longer texts are parsed in stretches, so that no text takes more than its length."""

TAGS_OF_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
TAGS = {"strong": "strong", "em": "em", "s": "s", "code": "code", "math": "i"}
ALIGNED = ("left", "center", "right")
BOXES = {"x": '<span class="box">☑</span> ', " ": '<span class="box">☐</span> '}


HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]", re.MULTILINE)
HIGHEST = 3
"""The level of a text's first heading: the page's own are h1 and h2."""


def rendered(text: str, top: int = 0) -> str:
    """Render Markdown. `top` is the level of the whole text's first heading, if this is only a part
    of it."""
    top = top or top_of(text)
    if len(text) <= WHOLE:
        return _blocks(_levelled(markdown.blocks(text), top))
    starts = starts_of(text, (), LEAST, MAX_STRETCH)
    texts = (stretch(text, starts, number) for number in range(len(starts)))
    return "".join(_blocks(_levelled(markdown.blocks(each), top)) for each in texts)


def top_of(text: str) -> int:
    """Return the level of the first heading, as its author numbered it, or 0 if there is none."""
    match = HEADING.search(text)
    return len(match.group(1)) if match else 0


def _levelled(nodes: Iterable[Node], top: int) -> tuple[Node, ...]:
    """Give headings the tags that they are shown with, so that no level is skipped at the top."""
    return tuple(
        node._replace(text=f"h{_level(node.info, top)}")
        if node.kind == "heading"
        else node._replace(children=_levelled(node.children, top))
        for node in nodes
    )


def _level(name: str, top: int) -> int:
    own = int(name[1]) if name in TAGS_OF_HEADINGS else 6
    return min(6, max(HIGHEST, HIGHEST + own - (top or 1)))


def _blocks(nodes: Iterable[Node]) -> str:
    return "".join(map(_block, nodes))


def _block(node: Node) -> str:
    match node.kind:
        case "paragraph" if node.tight:
            return _spans(node.spans)
        case "paragraph":
            return f'<p dir="auto">{_spans(node.spans)}</p>'
        case "inline":
            return _spans(node.spans)
        case "heading":
            level = node.info if node.info in TAGS_OF_HEADINGS else "h6"
            return f'<{node.text} class="{level}" dir="auto">{_spans(node.spans)}</{node.text}>'
        case "bullet_list":
            return tag("ul", _items(node))
        case "ordered_list":
            start = node.info if node.info.isdigit() else "1"
            return f'<ol start="{start}">{_items(node)}</ol>'
        case "blockquote":
            return tag("blockquote", _blocks(node.children))
        case "fence" | "code_block":
            return code_block(node.text, node.info)
        case "hr":
            return "<hr>"
        case "table":
            return tag("div", tag("table", "".join(map(_row, node.children))), "wide")
    return _other(node)


def _other(node: Node) -> str:
    """Render a block that has no HTML element of its own."""
    inner = _blocks(node.children)
    match node.kind:
        case "math_block":
            return tag("p", tag("i", _broken(node.text)), "math")
        case "footnote":
            inside = tag("span", esc_line(node.info)) + tag("div", inner)
            return f'<div class="footnote" id="{node.text}">{inside}</div>'
        case "html_block":
            return tag("p", esc(node.text), "literal")
    return inner


def _broken(text: str) -> str:
    return esc(text).replace("\n", "<br>")


def code_block(text: str, language: str = "") -> str:
    """Render a code block; for a diagram, a readable description with the source below it."""
    if language == "mermaid" and (description := diagrams.readable(text)):
        source = tag("details", tag("summary", "Source") + code_block(text), "source")
        return f"{code_block(description)}{source}"
    label = f'<span class="language">{esc_line(language, 40)}</span>' if language else ""
    code = tag("code", highlighted(text, language))
    return f'<div class="code">{label}<pre tabindex="0">{code}</pre></div>'


def _items(node: Node) -> str:
    items = []
    for item in node.children:
        box = BOXES.get(item.info, "")
        items.append(f"<li{' class="ticked"' if box else ''}>{box}{_blocks(item.children)}</li>")
    return "".join(items)


def _row(row: Node) -> str:
    return tag("tr", "".join(map(_cell, row.children)))


def _cell(cell: Node) -> str:
    name = "th" if cell.kind == "th" else "td"
    return tag(name, _spans(cell.spans), cell.info if cell.info in ALIGNED else "")


def _spans(spans: Iterable[Span]) -> str:
    """Render spans; adjacent ones with the same link become one link."""
    parts = []
    for href, group in groupby(spans, key=lambda span: span.href if _is_link(span) else ""):
        pieces = list(group)
        inner = "".join(map(_span, pieces))
        text = "".join(span.text for span in pieces)
        parts.append(link(href, inner, text) if href else inner)
    return "".join(parts)


def _is_link(span: Span) -> bool:
    return "link" in span.marks and "image" not in span.marks


def _span(span: Span) -> str:
    inner = _broken(span.text)
    if "note" in span.marks:
        return f'<sup><a href="#{span.href}">{inner}</a></sup>'
    if "image" in span.marks:  # nothing is loaded from elsewhere
        inner = (
            link(span.href, f"[image: {inner}]", span.text) if "link" not in span.marks else inner
        )
    for mark in reversed(span.marks):
        if mark in TAGS:
            inner = tag(TAGS[mark], inner)
    return inner
