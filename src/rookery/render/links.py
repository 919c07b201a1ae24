"""Addresses in a text: those that stand there bare, and which of them a reader may follow."""

import re
from collections.abc import Iterator

from rookery.render.plain import clean

SCHEMES = ("http://", "https://", "mailto:")
"""Whatever else stands in a link is shown as text."""

LONGEST = 2_000

_BARE = re.compile(r"(?<![\w@/.])(?:https?://|www\.)[^\s<>\"`|]{3,}", re.IGNORECASE)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ENDS = ".,;:!?'*_~…"


def can_follow(address: str) -> bool:
    """Of a known scheme, and without what could hide another address or end a sequence of the
    terminal."""
    if len(address) > LONGEST or not address.lower().startswith(SCHEMES):
        return False
    return address.isprintable() and " " not in address and clean(address) == address


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the address that it is; "": it is none."""
    at = 0
    for found in _BARE.finditer(text) if "://" in text or "www." in text.lower() else ():
        said = _without_ends(found.group())
        address = f"https://{said}" if said[:4].lower() == "www." else said
        if not can_follow(address):
            continue
        if found.start() > at:
            yield text[at : found.start()], ""
        yield said, address
        at = found.start() + len(said)
    if at < len(text):
        yield text[at:], ""


def _without_ends(said: str) -> str:
    """A sentence's own signs behind an address are no part of it, nor brackets around it."""
    while said:
        last = said[-1]
        unpaired = last in _PAIRS and said.count(last) > said.count(_PAIRS[last])
        if last not in _ENDS and not unpaired:
            break
        said = said[:-1]
    return said
