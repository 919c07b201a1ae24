"""Converts HTML to Markdown for a model: headings, paragraphs, lists, tables, code and links;
without scripts, styles, menus and what a browser would not show."""

import re
from itertools import islice
from urllib.parse import urljoin

from rookery.agent.web.html import End, Start, tokens
from rookery.core.command_line.syntax import listed

MAX_TOKENS = 300_000
MAX_DEPTH = 200
"""Elements within each other: the rest is read as text."""
SKIPPED = listed("script style noscript template svg canvas iframe object nav footer dialog select")
VOID = listed("area base br col embed hr img input link meta source track wbr")
BLOCKS = listed(
    "p div section article main header aside figure figcaption address details summary ul ol dl dt "
    "dd table tr form fieldset body html head blockquote pre li h1 h2 h3 h4 h5 h6"
)
IMPLIED = {
    "li": ("li",),
    "tr": ("td", "th", "tr"),
    **dict.fromkeys(("td", "th"), ("td", "th")),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd")),
}
"""Which open elements an element closes."""
MARKS = {"strong": "**", "b": "**", "em": "_", "i": "_"}
_SPACE = re.compile(r"[ \t\r\n\f\xa0]+")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"\n{3,}")
_LANGUAGE = re.compile(r"\blang(?:uage)?-([\w+#-]+)")


def markdown(html: str, url: str) -> str:
    """Convert HTML to Markdown. `url`: what its links are relative to."""
    reader = _Reader(url)
    for token in islice(tokens(html), MAX_TOKENS):
        match token:
            case Start(tag, attributes):
                reader.start(tag, attributes)
            case End(tag):
                reader.end(tag)
            case str():
                reader.text(token)
    reader.finish()
    text = "\n".join(line.rstrip() for line in "".join(reader.parts).split("\n"))
    text = _BLANKS.sub("\n\n", text).strip()
    title = _SPACE.sub(" ", "".join(reader.title)).strip()
    return f"# {title}\n\n{text}" if title and not text.startswith("# ") else text


class _Reader:
    def __init__(self, url: str) -> None:
        self.parts: list[str] = []
        self.title: list[str] = []
        self._url = url
        self._open: list[str] = []
        self._skipped = 0
        """How many open elements there are from the one on that is left out."""
        self._in_title = False
        self._pre = 0
        self._lists: list[int] = []
        """Of each list the number of its last item; -1: it has none."""
        self._links: list[tuple[str, int]] = []
        """The address of each open link, and where its text begins."""
        self._cells: list[str] | None = None
        self._header = False
        self._bare = True
        """The line has no text yet."""

    # --- elements --------------------------------------------------------------------------------

    def start(self, tag: str, given: dict[str, str]) -> None:
        if tag == "title" and not self._skipped:
            self._in_title = True
        if tag == "base" and given.get("href"):
            self._url = urljoin(self._url, given["href"])
        if tag in VOID:
            if not self._skipped:
                self._begin_void(tag, given)
            return
        if len(self._open) >= MAX_DEPTH:
            return
        self._close_implied(tag)
        self._open.append(tag)
        if self._skipped or tag in SKIPPED or _is_hidden(given):
            self._skipped += 1
            return
        self._begin(tag, given)

    def _close_implied(self, tag: str) -> None:
        """Close elements that the tag ends: `<li>` and `<p>` are often left open."""
        while self._open and (
            self._open[-1] in IMPLIED.get(tag, ()) or (self._open[-1] == "p" and tag in BLOCKS)
        ):
            self.end(self._open[-1])

    def end(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag not in self._open:
            return
        while self._open:
            last = self._open.pop()
            if self._skipped:
                self._skipped -= 1
            else:
                self._end(last)
            if last == tag:
                return

    def finish(self) -> None:
        while self._open:
            self.end(self._open[-1])

    def _begin_void(self, tag: str, given: dict[str, str]) -> None:
        if tag == "br":
            self._put("\n" if self._cells is None else " ")
            self._bare = True
        elif tag == "hr":
            self._block()
            self._put("---")
            self._block()
        elif tag == "img" and (alt := _SPACE.sub(" ", given.get("alt", "")).strip()):
            self._put(f"![{alt}]")

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        if tag in BLOCKS and tag not in ("tr", "li"):
            self._block()
        if tag in MARKS:
            self._put(MARKS[tag])
        elif tag == "a":
            self._links.append((urljoin(self._url, given.get("href", "")), len(self.parts)))
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else -1)
        elif tag == "li":
            self._begin_item()
        elif tag == "pre":
            language = _LANGUAGE.search(given.get("class", ""))
            self._pre += 1
            self._put(f"```{language[1] if language else ''}\n")
        elif tag == "code" and not self._pre:
            self._put("`")
        elif tag == "blockquote":
            self._put("> ")
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._put("#" * int(tag[1]) + " ")
        elif tag == "tr":
            self._cells, self._header = [], False
        elif tag in ("td", "th") and self._cells is not None:
            self._cells.append("")
            self._header |= tag == "th"

    def _begin_item(self) -> None:
        if not self._lists:
            self._lists.append(-1)
        self._line()
        mark = "-"
        if self._lists[-1] >= 0:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}."
        self._put("  " * (len(self._lists) - 1) + f"{mark} ")
        self._bare = True

    def _end(self, tag: str) -> None:
        if tag in MARKS:
            self._put(MARKS[tag])
        elif tag == "a" and self._links:
            self._end_link()
        elif tag in ("ul", "ol"):
            if self._lists:
                self._lists.pop()
        elif tag == "pre":
            self._pre -= 1
            self._put("" if self.parts and self.parts[-1].endswith("\n") else "\n")
            self._put("```")
        elif tag == "code" and not self._pre:
            self._put("`")
        elif tag == "tr" and self._cells is not None:
            self._end_row()
        if tag in BLOCKS and tag not in ("tr", "li"):
            self._block()

    def _end_link(self) -> None:
        address, at = self._links.pop()
        text = "".join(self.parts[at:]).strip()
        if not text or self._cells is not None or self._pre:
            return
        if address.startswith(("http://", "https://")) and "\n" not in text:
            self.parts[at:] = [f"[{text}]({address})"]

    def _end_row(self) -> None:
        cells, self._cells = self._cells or [], None
        if not any(cell.strip() for cell in cells):
            return
        self._line()
        row = " | ".join(cell.strip().replace("|", "\\|") for cell in cells)
        self._put(f"| {row} |")
        if self._header:
            self._put("\n|" + " --- |" * len(cells))
        self._put("\n")
        self._bare = True

    # --- text ------------------------------------------------------------------------------------

    def text(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
            return
        if self._skipped or (self._open and self._open[-1] in ("head", "html")):
            return
        if self._pre:
            self._put(data)
            return
        text = _SPACE.sub(" ", data)
        if self._bare and self._cells is None:
            text = text.lstrip(" ")
        if text:
            self._put(text)
            self._bare = False

    def _put(self, text: str) -> None:
        if self._cells:
            self._cells[-1] += text
        elif self._cells is None:
            self.parts.append(text)

    def _line(self) -> None:
        """Begin a new line."""
        if self._cells is None and self.parts and not self.parts[-1].endswith("\n"):
            self.parts.append("\n")
        self._bare = True

    def _block(self) -> None:
        """Begin a new paragraph; within a list, what follows belongs to its item."""
        if self._cells is not None:
            self._put(" ")
            return
        if self._lists and "li" in self._open:
            if self.parts and not self.parts[-1].endswith(("- ", ". ")):
                self._line()
            return
        if self.parts:
            self.parts.append("\n\n")
        self._bare = True


def _is_hidden(given: dict[str, str]) -> bool:
    return (
        "hidden" in given
        or given.get("aria-hidden") == "true"
        or bool(_HIDDEN.search(given.get("style", "")))
    )
