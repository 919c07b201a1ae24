"""What the reader thread tells the screen."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rookery.core.blocks import Block, Op
from rookery.core.json import Json
from rookery.tui.record import Record
from rookery.tui.transcript.window import Page

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.tui.splash import SetUp


class FleetChanged(Record):
    """The sessions, in the order of the list."""

    sessions: list[Block]


class Opened(Record):
    """A session's end: its header and its last pages."""

    session: str
    header: Json
    pages: list[Page]


class News(Record):
    """What changed in the session that is followed."""

    session: str
    ops: list[Op]


class Older(Record):
    """Pages before an event; none: that was the beginning."""

    session: str
    pages: list[Page]
    before: int = 0


class Sent(Record):
    """A command's end. `problem`: why it was rejected; `outcome`: the update that it caused."""

    session: str
    command: Json
    problem: str = ""
    outcome: Json | None = None
    files: "Sequence[Attachment]" = ()


class Made(Record):
    """A new session was made, to be shown."""

    session: str


class Trouble(Record):
    """Something went wrong that belongs to no block."""

    words: str
    session: str = ""


class LinkChanged(Record):
    """The connection to another machine broke, and why; empty: it stands again."""

    broken: str


class HungChanged(Record):
    """A session's worker stopped responding, or responds again."""

    session: str
    hung: bool


class SetUpFound(Record):
    """What is set up here."""

    found: "SetUp"


class Fetched(Record):
    """Something that was asked for is there."""

    then: Callable[..., object]
    found: tuple[Any, ...]
