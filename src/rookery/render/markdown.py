"""Parsing Markdown into a tree of blocks with spans of text. HTML in it stays text."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from rookery.render import links, notation
from rookery.render.runs import clean
from rookery.render.stretches import fence_after

SHORT = 4_000
"""Characters that are parsed, whatever they are."""
COSTS = {"[": 30, "![": 40, "]": 10} | dict.fromkeys("*_~`", 12) | dict.fromkeys("<&\\|", 8)
"""Microseconds for which markdown-it is busy with each of these, about; LINE_COST: with a line."""
LINE_COST = 70
DENSE = 6
"""Microseconds for each character: prose takes one."""

BOXES = {"[x]": "x", "[X]": "x", "[ ]": " "}


class Span(NamedTuple):
    text: str
    marks: tuple[str, ...] = ()
    """Any of strong, em, s, link, code, image, math, note."""
    href: str = ""
    """Of a note: the id of its footnote."""


class Node(NamedTuple):
    """A block, named as in markdown-it: paragraph, bullet_list, fence, table, …"""

    kind: str
    children: tuple["Node", ...] = ()
    spans: tuple[Span, ...] = ()
    text: str = ""
    """Of code and HTML; of a formula, as it is read; of a footnote, its id."""
    info: str = ""
    """A fence's language, a footnote's label, a heading's tag, an ordered list's first number, an
    item's box, the alignment of a table's cell: left, center, right or none."""
    tight: bool = False
    """No empty line before it."""


def blocks(text: str) -> tuple[Node, ...]:
    """Parse the blocks of a text. A long text that consists mostly of markup is left as it is:
    parsing would take many times as long as for prose of that length, and nobody would read it."""
    if _is_dense(text):
        return (Node("html_block", text=clean(text)),)
    return _nodes(iter(_parser().parse(clean(text))))


def _is_dense(text: str) -> bool:
    if len(text) <= SHORT:
        return False
    fence, lines = "", list[str]()
    for line in text.split("\n"):
        inside, fence = fence, fence_after(line[:200], fence)
        if not (inside or fence):  # code costs nothing: it is not parsed
            lines.append(line)
    rest = "".join(lines)
    cost = LINE_COST * len(lines) + sum(rest.count(mark) * each for mark, each in COSTS.items())
    return cost > DENSE * len(text)


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 30}).enable(["table", "strikethrough"])
    notation.syntax.extend(parser)
    return parser


def _nodes(tokens: Iterator[Any]) -> tuple[Node, ...]:
    """Return the blocks up to the end of the one that the tokens are in."""
    nodes: list[Node] = []
    for token in tokens:
        if token.nesting < 0:
            break
        inner = _nodes(tokens) if token.nesting > 0 else ()
        kind = token.type.removesuffix("_open")
        if kind in ("thead", "tbody"):
            nodes += inner
        else:
            nodes.append(_node(kind, token, inner))
    return tuple(nodes)


def _node(kind: str, token: Any, inner: tuple[Node, ...]) -> Node:
    match kind:
        case "inline":
            return Node(kind, spans=_spans(token))
        case "th" | "td":
            style = str(token.attrs.get("style", ""))
            return Node(kind, (), inner[0].spans if inner else (), info=style.rpartition(":")[2])
        case "paragraph" | "heading":
            spans = inner[0].spans if inner else ()
            return Node(kind, (), spans, info=token.tag, tight=bool(token.hidden))
        case "list_item":
            return _ticked(Node(kind, inner, tight=True))
        case "bullet_list" | "ordered_list":
            return Node(kind, inner, info=str(token.attrs.get("start", 1)), tight=token.level > 1)
        case "fence":
            return Node(
                kind, text=token.content.removesuffix("\n"), info=(token.info.split() or [""])[0]
            )
        case "math_block":
            return Node(kind, text=_formula(token.content))
        case "footnote":
            return Node(kind, inner, text=token.content, info=clean(token.info))
    return Node(kind, inner, text=token.content.removesuffix("\n"))


def _formula(tex: str) -> str:
    return notation.formulas.readable(clean(tex))


def _ticked(item: Node) -> Node:
    """Convert `[x]` at the start of an item into its checkbox."""
    first = item.children[0] if item.children else None
    if first is None or not first.spans or first.spans[0].text[:3] not in BOXES:
        return item
    span = first.spans[0]
    rest = first._replace(spans=(span._replace(text=span.text[3:].lstrip()), *first.spans[1:]))
    return item._replace(children=(rest, *item.children[1:]), info=BOXES[span.text[:3]])


def _spans(token: Any) -> tuple[Span, ...]:
    spans: list[Span] = []
    marks: list[str] = []
    href = ""
    for child in token.children or []:
        kind = child.type
        if child.nesting > 0:
            marks.append(kind.removesuffix("_open"))
            href = str(child.attrs.get("href", "")) if kind == "link_open" else href
        elif child.nesting < 0:
            marks.pop()
            href = "" if kind == "link_close" else href
        elif kind == "image":
            source = str(child.attrs.get("src", ""))
            spans.append(Span(clean(child.content) or "image", (*marks, "image"), source))
        elif kind == "math":
            spans.append(Span(_formula(child.content), (*marks, "math"), href))
        elif kind == "note":
            spans.append(Span(clean(child.content), (*marks, "note"), child.info))
        elif kind == "text" and not href:
            spans += _linked(clean(child.content), tuple(marks))
        else:
            own = ("code",) if kind == "code_inline" else ()
            text = {"softbreak": " ", "hardbreak": "\n"}.get(kind) or clean(child.content)
            spans.append(Span(text, (*marks, *own), href))
    return tuple(spans)


def _linked(text: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Yield spans in which bare URLs are links, too."""
    for piece, address in links.pieces(text):
        yield Span(piece, (*marks, "link"), address) if address else Span(piece, marks)
