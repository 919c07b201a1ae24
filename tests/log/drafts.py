"""Drafts as workers and agents make them, and the ways in which the tests look at a log's files."""

import os
import sqlite3
from collections.abc import Iterable
from typing import Any

from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json.events import Draft, Event


def prompt(turn: int, cause: str | None = None) -> Draft:
    text = {"type": "text", "text": f"question {turn}"}
    return Draft({"sessionUpdate": "_prompt", "prompt": [text], "turn": turn}, cause, "tui")


def idle(turn: int, reason: str = "done") -> Draft:
    return Draft({"sessionUpdate": "_turn", "state": "idle", "turn": turn, "reason": reason})


def running(turn: int) -> Draft:
    return Draft({"sessionUpdate": "_turn", "state": "running", "turn": turn})


def chunk(text: str) -> Draft:
    content = {"type": "text", "text": text}
    return Draft({"sessionUpdate": "agent_message_chunk", "content": content})


def tool(name: str, status: str, kind: str = "tool_call_update") -> Draft:
    return Draft({"sessionUpdate": kind, "toolCallId": name, "status": status, "title": name})


def commands(count: int) -> Draft:
    many = [{"name": f"c{n}", "description": "what it does " * 8} for n in range(count)]
    return Draft({"sessionUpdate": "available_commands_update", "availableCommands": many})


def renamed(title: str) -> Draft:
    return Draft({"sessionUpdate": "_session", "title": title})


def usage(used: int) -> Draft:
    return Draft({"sessionUpdate": "usage_update", "used": used, "size": 200_000})


def folded(events: Iterable[Event], header: Header = EMPTY) -> Header:
    for event in events:
        header = header.with_(**advance(header, event))
    return header


def files(directory: str) -> dict[str, bytes]:
    """Every file of a directory, to the byte."""
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = file.read()
    return found


def foreign(directory: str, *statements: str) -> list[Any]:
    """What a foreign hand does to a log, in SQL; the rows of the last statement."""
    connection = sqlite3.connect(os.path.join(directory, "log.db"), isolation_level=None)
    try:
        return [connection.execute(statement).fetchall() for statement in statements][-1]
    finally:
        connection.close()
