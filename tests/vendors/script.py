"""What the scripted model does next: a mark in the prompt says it, so a test needs no other way.

    [[say TEXT]]     answers TEXT
    [[run COMMAND]]  calls the agent's shell tool, then answers with what the tool gave back
    [[slow]]         writes a word every 50 ms until the agent hangs up
    [[fail STATUS]]  answers with that HTTP status

A request without any mark, or without tools (a title, a summary), is answered with a few words.
"""

import re
from typing import NamedTuple

MARK = re.compile(r"\[\[(say|run|slow|fail)(?: (.*?))?\]\]", re.DOTALL)

SLOW_WORD = "slowly "
FILLER = "A title"


class Part(NamedTuple):
    """One piece of a conversation, in whatever API it came."""

    role: str
    """user, model, call or result."""
    text: str


class Say(NamedTuple):
    text: str


class Run(NamedTuple):
    command: str


class Slow(NamedTuple):
    pass


class Fail(NamedTuple):
    status: int


type Move = Say | Run | Slow | Fail


def next_move(parts: list[Part], *, tools: bool) -> Move:
    """By the last mark of the user's, and what was done about it already."""
    marked = [at for at, part in enumerate(parts) if part.role == "user" and MARK.search(part.text)]
    if not marked or not tools:
        return Say(FILLER)
    found = MARK.findall(parts[marked[-1]].text)[-1]
    results = [part.text for part in parts[marked[-1] :] if part.role == "result"]
    match found:
        case ("run", command):
            return Say(f"The tool said: {results[-1]}") if results else Run(command)
        case ("slow", _):
            return Slow()
        case ("fail", status):
            return Fail(int(status))
        case (_, text):
            return Say(text)
    raise AssertionError(found)
