"""What the thread that reads files and sockets tells the screen."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.message import Message

from rookery.core.blocks.document import Block, Op
from rookery.core.json.events import Json
from rookery.tui.splash import SetUp
from rookery.tui.transcript.window import Page

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class FleetChanged(Message):
    """The sessions, in the order in which they are listed."""

    def __init__(self, sessions: list[Block]) -> None:
        super().__init__()
        self.sessions = sessions


class Opened(Message):
    """A session's end: its header and its last pages."""

    def __init__(self, session: str, header: Json, pages: list[Page]) -> None:
        super().__init__()
        self.session = session
        self.header = header
        self.pages = pages


class News(Message):
    """What changed in the session that is followed."""

    def __init__(self, session: str, ops: list[Op]) -> None:
        super().__init__()
        self.session = session
        self.ops = ops


class Older(Message):
    """Pages that stand before an event; none: that was the beginning."""

    def __init__(self, session: str, pages: list[Page], before: int = 0) -> None:
        super().__init__()
        self.session = session
        self.pages = pages
        self.before = before


class Sent(Message):
    """A command's end. `problem`: why it was not taken, in words; `outcome`: the update that came
    of it."""

    def __init__(
        self,
        session: str,
        command: Json,
        problem: str = "",
        outcome: Json | None = None,
        files: "Sequence[Attachment]" = (),
    ) -> None:
        super().__init__()
        self.outcome = outcome or {}
        self.files = files
        self.session = session
        self.command = command
        self.problem = problem


class Made(Message):
    """A new session, which is to be shown."""

    def __init__(self, session: str) -> None:
        super().__init__()
        self.session = session


class Trouble(Message):
    """Something went wrong that belongs to no block."""

    def __init__(self, words: str, session: str = "") -> None:
        super().__init__()
        self.words = words
        self.session = session


class HungChanged(Message):
    """A session's worker does not answer, or does again."""

    def __init__(self, session: str, hung: bool) -> None:
        super().__init__()
        self.session = session
        self.hung = hung


class SetUpFound(Message):
    """What is set up here."""

    def __init__(self, found: SetUp) -> None:
        super().__init__()
        self.found = found


class BlobRead(Message):
    """The bytes that a part names; None: they are gone."""

    def __init__(self, data: bytes | None, mime: str) -> None:
        super().__init__()
        self.data = data
        self.mime = mime


class Fetched(Message):
    """Something that a window asked for is there."""

    def __init__(self, then: Callable[[Any], object], found: Any) -> None:
        super().__init__()
        self.then = then
        self.found = found


class Warmed(Message):
    """What the blocks will need is loaded."""
