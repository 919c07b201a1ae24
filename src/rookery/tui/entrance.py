"""The way in: the mark of the first screen, and what a key starts while nothing is written."""

from typing import NamedTuple

from rookery.core.blocks.document import Block
from rookery.core.vendors.demo import NAME, SECOND, TOUR
from rookery.core.view.fleet import NO_TITLE
from rookery.tui.look.plain import clean_line, cut

MARK = """\
\x1b[36m█▄█▄█\x1b[0m
\x1b[36m ███ \x1b[0m  \x1b[1mRookery\x1b[0m
\x1b[36m▟███▙\x1b[0m  Coding agents that carry on when you leave."""
"""A rook."""

LOOK = "Give me a short tour of this project. Change nothing."
"""The first prompt for an agent that has a model."""

LONGEST = 40


class Way(NamedTuple):
    """One of `prompt`, for a new session, and `session`, which is there."""

    words: str
    """After the key."""
    prompt: str = ""
    session: str = ""


def way_in(agent: str, sessions: list[Block], *, new: bool) -> Way:
    """`new`: the user asked for a new session."""
    if sessions and not new:
        first = sessions[0]
        title = cut(clean_line(str(first["title"])), LONGEST)
        what = f"session {first['id']}" if title in ("", NO_TITLE) else f"“{title}”"
        needs = ", which needs you" if first["status"] == "needs-you" else ""
        return Way(f"opens {what}{needs}", session=str(first["id"]))
    if agent != NAME:
        return Way(f"asks {agent} for a short tour of this project", prompt=LOOK)
    if sessions:
        return Way("starts another session of the demo", prompt=SECOND)
    return Way("starts a tour with the demo agent", prompt=TOUR)
