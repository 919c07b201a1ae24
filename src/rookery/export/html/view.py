"""The context for rendering a block: the session, and what the page it is on can do."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rookery.core.blocks.document import Block
from rookery.export.html.text import esc, tag


def _no_image(_part: dict[str, Any]) -> str:
    return ""


def _no_actions(_block: Block) -> str:
    return ""


def _no_output(_block: Block, _command: str) -> str:
    return ""


def _no_file(_path: str, _line: int) -> str:
    return ""


class View(NamedTuple):
    agent: str = ""
    cwd: str = ""
    now: float = 0.0
    """Milliseconds since the epoch."""
    image: Callable[[dict[str, Any]], str] = _no_image
    """The address of a part's image: a data URI in a file, one of its own on a server; "": none."""
    actions: Callable[[Block], str] = _no_actions
    """The HTML of a block's buttons; a file has none."""
    alone: bool = False
    """An ask stands alone, without what was said before it."""
    here: str = ""
    """The face that shows it; an answer from another face is followed by its name."""
    output: Callable[[Block, str], str] = _no_output
    """What a terminal printed below its command, on a page where it may go on; "": as in a file."""
    prose: Callable[[Block], str] | None = None
    """The HTML of an answer or a thought, on a page where it may go on."""
    opened: str = ""
    """The name of the text that is still being written."""
    file: Callable[[str, int], str] = _no_file
    """The address of a file of the session at a line (0: any); "": it is not to be read here."""

    def named(
        self, path: str, line: int, inner: str, kind: str = "", *, focusable: bool = True
    ) -> str:
        """Render a file's name, as a link if the file can be viewed."""
        if not (address := self.file(path, line)):
            return tag("span", inner, kind)
        about = f'data-do="file-view" data-path="{esc(path)}" data-line="{line or ""}"'
        kind = f"{kind} file-link".strip()
        if not focusable:
            return f'<span class="{kind}" {about}>{inner}</span>'
        return f'<a class="{kind}" {about} href="{esc(address)}">{inner}</a>'
