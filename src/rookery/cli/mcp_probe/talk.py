"""The few words of MCP that a visit takes, the same over every transport."""

from collections.abc import Callable
from typing import Any, NamedTuple

import rookery
from rookery.core.json import lenient
from rookery.core.json.events import Json

VERSION = "2025-06-18"
PAGES = 100
"""A server that has always one more page of tools is believed so far."""


class Visit(NamedTuple):
    """What a server said of itself."""

    name: str
    version: str
    protocol: str
    tools: list[str]


class Failed(Exception):
    """It is no server that an agent could use; the message says why and what helps."""


def hello() -> Json:
    client = {"name": "rookery", "title": "Rookery", "version": rookery.__version__}
    return {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}


def has_tools(greeting: Any) -> bool:
    """A server may have prompts and resources alone."""
    return "tools" in lenient.mapping(greeting, "capabilities")


def protocol_of(greeting: Any) -> str:
    """Raises Failed where the answer is none to `initialize`."""
    protocol = lenient.text(greeting, "protocolVersion")
    if not protocol:
        raise Failed("it answers, but not as an MCP server does (initialize has no version)")
    return protocol


def visited(greeting: Any, tools: list[str]) -> Visit:
    info = lenient.mapping(greeting, "serverInfo")
    name = lenient.text(info, "title") or lenient.text(info, "name")
    return Visit(name, lenient.text(info, "version"), protocol_of(greeting), tools)


def pages(greeting: Any, listed: Callable[[Json], Any]) -> list[str]:
    """The names of all tools; `listed` asks for a page."""
    names = list[str]()
    params: Json = {}
    for _ in range(PAGES if has_tools(greeting) else 0):
        page = listed(params)
        names += names_in(page)
        if not (cursor := lenient.text(page, "nextCursor")):
            break
        params = {"cursor": cursor}
    return names


def names_in(page: Any) -> list[str]:
    return [lenient.text(tool, "name") for tool in lenient.mappings(page, "tools")]
