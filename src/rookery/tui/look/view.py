"""The context for rendering a block: its width, its look, and what the user has opened or
chosen."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from rookery.tui.keys.map import first
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import PROSE, Line

ALL_ALIKE = {-1: "allow", -2: "reject"}
"""In the place of the action that waits for its confirmation: what is done with all asks that are
alike."""


class Drawing(Protocol):
    """The interface of a drawer of pictures, for terminals that can show them."""

    @property
    def can_open(self) -> bool:
        """Whether a picture can be seen in a window."""

    def rows(self, part: Mapping[str, Any], width: int) -> list[Line]:
        """Return a picture as lines between those of text; none if it is not available."""


def _no_drawing() -> Drawing | None:
    return None


class View(NamedTuple):
    width: int
    look: Look
    agent: str = ""
    cwd: str = ""
    opened: bool = False
    folded: bool = False
    """Whether the user closed it: then a change is one line, too."""
    split: bool = False
    now: int = 0
    """Milliseconds, for running cards."""
    doubtful: int | None = None
    """The action that waits for its confirmation."""
    focused: bool = False
    """Whether the block has the cursor."""
    more: bool = False
    """Whether an ask shows every way to answer it."""
    explains: bool = False
    """Whether an ask shows what it would do."""
    chosen: str = ""
    """The key that answers it in a moment."""

    live: bool = False
    """Whether the block still grows, at the end of a running turn."""

    drawing: Callable[[], Drawing | None] = _no_drawing
    """Only asked for where there is a picture."""

    keys: Mapping[str, str] = MappingProxyType({})
    """The user's own, by name."""

    def key(self, name: str) -> str:
        """Return the first key for an action, as it is written on the keyboard."""
        return first(self.keys, name)

    @property
    def prose(self) -> int:
        return max(1, min(self.width, PROSE))

    def narrower(self, columns: int) -> "View":
        return self._replace(width=max(1, self.width - columns))
