"""The messages from the reader thread to the screen."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rookery.core.blocks import Block, Op
from rookery.core.header import Header
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
    """A session was opened: its header and its last pages."""

    session: str
    header: Header
    pages: list[Page]


class News(Record):
    """Changes in the session that is followed."""

    session: str
    ops: list[Op]


class Older(Record):
    """Pages before an event; none if the beginning was reached."""

    session: str
    pages: list[Page]
    before: int = 0


class Sent(Record):
    """A command has ended. `problem`: why it was rejected; `outcome`: the update it caused."""

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

    text: str
    session: str = ""


class LinkChanged(Record):
    """The connection to another machine broke, and why; "" if it stands again."""

    broken: str


class HungChanged(Record):
    """A session's worker stopped responding, or responds again."""

    session: str
    hung: bool


class SetUpFound(Record):
    """The agents and settings found here."""

    set_up: "SetUp"


class Fetched(Record):
    """The result of a fetch has arrived."""

    then: Callable[..., object]
    results: tuple[Any, ...]
