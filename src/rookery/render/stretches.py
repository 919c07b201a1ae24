"""A long text in stretches: a face renders those it shows, and of a stream only the last."""

import re
from typing import NamedTuple

LEAST = 1_200
"""From this many characters on, a stretch ends at the next empty line."""

MOST = 3_000
"""At this many characters it ends anywhere."""

_CONTINUES = re.compile(r"[\s\-*+|>]|\d+[.)]")
"""The start of a line that continues what is above an empty line."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)")


class Start(NamedTuple):
    """Where a stretch begins, and the fence that is open there."""

    at: int
    fence: str = ""


def starts_of(
    text: str, known: tuple[Start, ...] = (), least: int = LEAST, most: int = MOST
) -> tuple[Start, ...]:
    """`known`: the starts of an earlier, shorter state of the text."""
    found = [each for each in known if each.at <= len(text)] or [Start(0)]
    begin, fence = found[-1]
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
            found.append(Start(begin, fence))
        long = end - begin >= most or (
            end - begin >= least and not fence and _pauses(text, line, end)
        )
        if end < len(text) and long:
            begin = end
            found.append(Start(begin, fence))
        at = end
    return tuple(found)


def fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line, if `fence` was before it."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return line.strip()[:60]
    closes = found.group(1).startswith(fence[:3]) and not found.group(2).strip()
    return "" if closes else fence


def _pauses(text: str, line: str, end: int) -> bool:
    """Whether an empty line ends what is above it."""
    return not line.strip() and _CONTINUES.match(text, end) is None


def stretch(text: str, starts: tuple[Start, ...], number: int) -> str:
    """The text of one stretch; a fence around it is opened again."""
    begin, fence = starts[number]
    end = starts[number + 1].at if number + 1 < len(starts) else len(text)
    body = text[begin:end]
    return f"{fence}\n{body}" if fence else body
