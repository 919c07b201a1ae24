"""Splits HTML into tokens, in linear time: nothing is read twice, whatever it is. (Python's own
parser needs minutes for 60 kB of `<a <a <a`.)"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

MAX_ATTRIBUTES = 4096
"""Characters that are read of an element's attributes."""
RAW = ("script", "style", "textarea", "title", "noscript", "iframe", "xmp", "svg")
"""Elements whose content ends with their own end tag, whatever stands in it."""

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)")
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?""")
_END = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in RAW}


class Start(NamedTuple):
    tag: str
    attributes: dict[str, str]


class End(NamedTuple):
    tag: str


type Token = Start | End | str
"""A text stands for itself."""


def tokens(html: str) -> Iterator[Token]:
    at = 0
    while at < len(html):
        begin = html.find("<", at)
        if begin < 0:
            yield unescape(html[at:])
            return
        if begin > at:
            yield unescape(html[at:begin])
        match = _TAG.match(html, begin)
        if match is None:
            at = _after_other(html, begin)
            if at == begin + 1:
                yield "<"
            continue
        at = html.find(">", match.end()) + 1
        if not at:
            return  # it never ends
        tag = match[2].lower()
        if match[1]:
            yield End(tag)
            continue
        yield Start(tag, _attributes(match[3][:MAX_ATTRIBUTES]))
        if tag in _END and not match[3].endswith("/"):
            ended = _END[tag].search(html, at)
            content, at = html[at : ended.start() if ended else None], len(html)
            if tag in ("title", "textarea"):
                yield unescape(content)
            if ended is None:
                return
            at = ended.start()


def _after_other(html: str, begin: int) -> int:
    """Return the end of a non-element: a comment, a declaration, or a sign that is text."""
    if html.startswith("<!--", begin):
        end = html.find("-->", begin + 4)
        return end + 3 if end >= 0 else len(html)
    if html.startswith(("<!", "<?", "</"), begin):
        end = html.find(">", begin)
        return end + 1 if end >= 0 else len(html)
    return begin + 1


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for each in _ATTRIBUTE.finditer(text):
        name, *values = each.groups()
        attributes.setdefault(name.lower(), unescape(next(filter(None, values), "")))
    return attributes
