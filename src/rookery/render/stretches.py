"""Splitting a long text into stretches: a face renders only those it shows, and for a stream only
the last."""

import re
from typing import NamedTuple

LEAST = 1_200
"""From this many characters on, a stretch ends at the next empty line."""

MAX_LENGTH = 3_000
"""A stretch ends anywhere once it has this many characters."""

_CONTINUES = re.compile(r"[\s\-*+|>]|\d+[.)]")
"""The start of a line that continues what is above an empty line."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)")


class Start(NamedTuple):
    """The beginning of a stretch, and the fence that is open there."""

    at: int
    fence: str = ""


def starts_of(
    text: str, known: tuple[Start, ...] = (), least: int = LEAST, most: int = MAX_LENGTH
) -> tuple[Start, ...]:
    """Return the starts of all stretches; `known` are those of an earlier, shorter state of the
    text."""
    starts = [each for each in known if each.at <= len(text)] or [Start(0)]
    begin, fence = starts[-1]
    at = begin
    while at < len(text):
        end = text.find("\n", at)
        if end < 0:
            end = len(text) - 1
            if end + 1 - begin <= most:
                break
        end += 1
        line = text[at : min(end, at + 200)]
        fence = fence_after(line, fence)
        while end - begin > 2 * most:  # one line without an end
            begin += most
            starts.append(Start(begin, fence))
        long = end - begin >= most or (
            end - begin >= least and not fence and _pauses(text, line, end)
        )
        if end < len(text) and long:
            begin = end
            starts.append(Start(begin, fence))
        at = end
    return tuple(starts)


def fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, given the one before it."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return line.strip()[:60]
    closes = match.group(1).startswith(fence[:3]) and not match.group(2).strip()
    return "" if closes else fence


def _pauses(text: str, line: str, end: int) -> bool:
    """Tell whether an empty line ends what is above it."""
    return not line.strip() and _CONTINUES.match(text, end) is None


def stretch(text: str, starts: tuple[Start, ...], number: int) -> str:
    """Return the text of one stretch; a fence around it is opened again."""
    begin, fence = starts[number]
    end = starts[number + 1].at if number + 1 < len(starts) else len(text)
    body = text[begin:end]
    return f"{fence}\n{body}" if fence else body
