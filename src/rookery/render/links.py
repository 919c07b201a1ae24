"""Links in a text: finding bare URLs, deciding which may be followed, and where they lead."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.asks import links
from rookery.render.runs import clean

SCHEMES = ("http://", "https://", "mailto:")
"""Whatever else stands in a link is shown as text."""

MAX_URL_LENGTH = 2_000

_BARE = re.compile(r"(?<![\w@/.])(?:https?://|www\.|mailto:(?=\S+@))[^\s<>\"`|]{3,}", re.IGNORECASE)
_SIGN = re.compile(r"://|www\.|mailto:", re.IGNORECASE)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ENDS = ".,;:!?'*_~…。，、；：！？）」』】》”’"
MAIL = "mailto:"
SHOWN = 80
"""Characters of a target beside a link."""


class Target(NamedTuple):
    """The destination of a link."""

    href: str
    shown: str = ""
    """What a reader should see beside the link's words; "": they say it themselves."""
    warning: str = ""
    """Why the words, or the address, may mislead."""


def can_follow(address: str) -> bool:
    """Tell whether an address has a known scheme and contains nothing that could hide another
    address or end a terminal sequence."""
    if len(address) > MAX_URL_LENGTH or not address.lower().startswith(SCHEMES):
        return False
    return address.isprintable() and " " not in address and clean(address) == address


def target(address: str, text: str) -> Target | None:
    """Return the target of a link with this text, or None if it may not be followed."""
    if not can_follow(address):
        return None
    text = text.strip()
    if address.lower().startswith(MAIL):
        to = address[len(MAIL) :].partition("?")[0]
        return Target(address, "" if text.removeprefix(MAIL) == to else to[:SHOWN])
    if (link := _read(address)) is None:
        return None
    spoken = _read(text if "://" in text else f"https://{text}")
    if link.disguise:
        return Target(link.url, link.host, link.disguise)
    if spoken is None or (spoken.host != link.host and not _BARE.match(text)):
        return Target(link.url, link.host)
    if spoken.host != link.host:
        return Target(link.url, link.host, f"This link does not lead to {spoken.host}.")
    here, there = (_bare(each.url, keeps="://" in text) for each in (spoken, link))
    return Target(link.url, "" if here == there else _cut(_bare(link.url, keeps=False)))


def _read(address: str) -> links.Link | None:
    try:
        return links.read(address)
    except links.BadLink:
        return None


def _bare(url: str, *, keeps: bool) -> str:
    """Strip the parts of a URL that make no difference; `keeps` keeps the scheme."""
    return (url if keeps else url.partition("://")[2]).rstrip("/")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Split the text into pieces, each with its address, or "" if it is none."""
    at = 0
    for match in _BARE.finditer(text) if _SIGN.search(text) else ():
        shown = _without_ends(match.group())
        address = f"https://{shown}" if shown[:4].lower() == "www." else shown
        if not can_follow(address):
            continue
        if match.start() > at:
            yield text[at : match.start()], ""
        yield shown, address
        at = match.start() + len(shown)
    if at < len(text):
        yield text[at:], ""


def _without_ends(address: str) -> str:
    """Strip a sentence's punctuation after an address, and brackets around it."""
    while address:
        last = address[-1]
        unpaired = last in _PAIRS and address.count(last) > address.count(_PAIRS[last])
        if last not in _ENDS and not unpaired:
            break
        address = address[:-1]
    return address
