"""The context for drawing a block: its width, what the face can do, and what the user has opened
or chosen."""

from collections.abc import Callable, Mapping
from sys import maxsize
from typing import Any, NamedTuple, Protocol

from rookery.core.blocks import Block
from rookery.render.runs import PROSE, Line, prefixed, trimmed, wrap

FOLDED, OPENED = 12, 400
"""Lines of one part."""
WHOLE = maxsize
"""The limit of a view that cuts nothing."""


class Drawing(Protocol):
    """The interface of a drawer of pictures, for terminals that can show them."""

    @property
    def can_open(self) -> bool:
        """Whether a picture can be seen in a window."""

    def rows(self, part: Mapping[str, Any], width: int) -> list[Line]:
        """Return a picture as lines between those of text; none if it is not available."""


def _no_drawing() -> Drawing | None:
    return None


class Controls:
    """How a face offers what can be done about a block; this one offers nothing."""

    folds = False
    """Whether the user can open and fold blocks."""
    explains = True
    """Whether an ask shows what it would do."""

    def hint(self, _name: str, _purpose: str) -> str:
        """Return the key of an action and what for; "" if there is none."""
        return ""

    def field(self, _name: str) -> str:
        """Return how the field of a form is filled in; "" if that needs no name."""
        return ""

    def actions(self, _block: Block, _view: "View") -> list[Line]:
        """Return the lines of a block's actions."""
        return []

    def answers(self, _block: Block, _view: "View") -> list[Line]:
        """Return the lines of the ways to answer an ask."""
        return []


class View(NamedTuple):
    width: int
    agent: str = ""
    cwd: str = ""
    opened: bool = False
    folded: bool = False
    """Whether the user closed it: then a change is one line, too."""
    split: bool = False
    now: int = 0
    """Milliseconds, for running cards."""
    live: bool = False
    """Whether the block still grows, at the end of a running turn."""
    limit: int = OPENED
    """Lines of one part of a block that is open."""
    printed: bool = False
    """Whether it is written once: nothing can be opened later, so texts, commands and asks are
    whole."""
    source: bool = False
    """Whether text stays as it was written, for pipes: no line is laid out, no code coloured."""
    timed: bool = True
    """Whether calls say how long they took."""
    below: bool = True
    """Whether an answered ask stands right below the call that it is about."""
    alone: bool = False
    """Whether an ask stands alone, without what was said before it."""
    here: str = "terminal"
    """The face; an answer from another one is followed by its name."""
    controls: Controls = Controls()
    drawing: Callable[[], Drawing | None] = _no_drawing
    """Only asked for where there is a picture."""

    @property
    def prose(self) -> int:
        return self.width if self.source else max(1, min(self.width, PROSE))

    @property
    def most(self) -> int:
        """Lines of one part."""
        return self.limit if self.opened else FOLDED

    def narrower(self, columns: int) -> "View":
        return self._replace(width=max(1, self.width - columns))

    def fitted(self, line: Line, width: int) -> list[Line]:
        """Return one line cut to a width; where nothing can be opened, all of it."""
        if not self.printed:
            return [trimmed(line, width)]
        rows = wrap(line, max(1, width - 2))
        return [*rows[:1], *prefixed(rows[1:], [("  ", "")])]

    def text(self, text: str, longest: int) -> str:
        """Return what is shown of a text: all that is printed, else its beginning."""
        return text if self.printed else text[:longest]
