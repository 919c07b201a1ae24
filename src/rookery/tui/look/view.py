"""The circumstances under which a block is rendered: what is not in the block itself."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rookery.core.settings.keys import DEFAULTS
from rookery.tui.look.key_names import shown
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import PROSE


class View(NamedTuple):
    width: int
    look: Look
    agent: str = ""
    cwd: str = ""
    opened: bool = False
    split: bool = False
    now: int = 0
    """Milliseconds; only running cards look at it."""
    doubtful: int | None = None
    """The place of the action that waits for its second confirmation."""
    focused: bool = False
    """Whether the block has the cursor: then its keys are shown as alive."""

    keys: Mapping[str, str] = MappingProxyType({})
    """Those that are not the usual ones, by their names."""

    def key(self, name: str) -> str:
        """As it stands on the keyboard; the first, where there are several."""
        return shown((self.keys.get(name) or DEFAULTS[name]).partition(",")[0])

    @property
    def prose(self) -> int:
        return max(1, min(self.width, PROSE))

    def narrower(self, columns: int) -> "View":
        return self._replace(width=max(1, self.width - columns))
