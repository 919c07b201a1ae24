"""Addresses in a text: those that stand there bare, which of them a reader may follow, and where
they lead."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.asks import links
from rookery.render.plain import clean

SCHEMES = ("http://", "https://", "mailto:")
"""Whatever else stands in a link is shown as text."""

LONGEST = 2_000

_BARE = re.compile(r"(?<![\w@/.])(?:https?://|www\.|mailto:(?=\S+@))[^\s<>\"`|]{3,}", re.IGNORECASE)
_SIGN = re.compile(r"://|www\.|mailto:", re.IGNORECASE)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ENDS = ".,;:!?'*_~…。，、；：！？）」』】》”’"
MAIL = "mailto:"
SHOWN = 80
"""Characters of a target beside a link."""


class Target(NamedTuple):
    """Where a link leads."""

    href: str
    shown: str = ""
    """What a reader should see beside the link's words; "": they say it themselves."""
    warning: str = ""
    """Why the words, or the address, may mislead."""


def can_follow(address: str) -> bool:
    """Of a known scheme, and without what could hide another address or end a sequence of the
    terminal."""
    if len(address) > LONGEST or not address.lower().startswith(SCHEMES):
        return False
    return address.isprintable() and " " not in address and clean(address) == address


def target(address: str, said: str) -> Target | None:
    """Of a link with these words; None: it may not be followed."""
    if not can_follow(address):
        return None
    said = said.strip()
    if address.lower().startswith(MAIL):
        to = address[len(MAIL) :].partition("?")[0]
        return Target(address, "" if said.removeprefix(MAIL) == to else to[:SHOWN])
    if (link := _read(address)) is None:
        return None
    spoken = _read(said if "://" in said else f"https://{said}")
    if link.disguise:
        return Target(link.url, link.host, link.disguise)
    if spoken is None or (spoken.host != link.host and not _BARE.match(said)):
        return Target(link.url, link.host)
    if spoken.host != link.host:
        return Target(link.url, link.host, f"This link does not lead to {spoken.host}.")
    here, there = (_bare(each.url, keeps="://" in said) for each in (spoken, link))
    return Target(link.url, "" if here == there else _cut(_bare(link.url, keeps=False)))


def _read(address: str) -> links.Link | None:
    try:
        return links.read(address)
    except links.BadLink:
        return None


def _bare(url: str, *, keeps: bool) -> str:
    """Without what makes no difference. `keeps`: the scheme."""
    return (url if keeps else url.partition("://")[2]).rstrip("/")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the address that it is; "": it is none."""
    at = 0
    for found in _BARE.finditer(text) if _SIGN.search(text) else ():
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
