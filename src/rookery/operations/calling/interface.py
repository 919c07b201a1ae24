"""The interface of a Rookery and of its sessions, wherever they are, for all faces."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from rookery.core.blocks import Block
from rookery.core.json import Event, Json
from rookery.log.history import History
from rookery.operations.catalogue.row import Report, unheard

if TYPE_CHECKING:
    import asyncio

    from rookery.client.attach import Attachment
    from rookery.core.policy.unattended import Order
    from rookery.export import Turns

type Notify = Callable[[str], object]


class Session(Protocol):
    """One session. One task at a time may follow it, any number may send."""

    session: str
    on_silence: Callable[[], object]
    """Called once for a command that the session's worker takes no notice of."""
    on_link: Notify
    """Called with why the connection broke, and with "" when it stands again; never for a session
    of this machine."""

    @property
    def log(self) -> History: ...

    def follow(self, since: int = 0) -> AsyncIterator[Event]:
        """Yield every event after `since`, in order, each once, for ever."""
        ...

    async def send(self, command: Json, *, files: "Sequence[Attachment]" = ()) -> Event:
        """Send a command, and files with a prompt; return its outcome once that is known."""
        ...

    async def renew(self, command: Json) -> str:
        """Give an agent that the command starts again this terminal's environment; return a
        sentence on what changed."""
        ...

    def mark_seen(self, seq: int) -> None:
        """Record that the events up to `seq` were shown to the user."""
        ...

    def is_gone(self) -> bool:
        """Tell whether the session was deleted."""
        ...

    def discard_unbegun(self) -> None:
        """Delete the session if no prompt ever reached it."""
        ...

    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


class Rookery(Protocol):
    """All sessions of one home, on this machine or another."""

    address: str
    """Of the daemon that is asked, as it is shown; "": it is this machine's."""
    answers_at_once: bool
    """Whether a read takes no longer than a file: else a thread has to wait for it."""

    def call(
        self,
        operation: str,
        session: str = "",
        *,
        report: Report = unheard,
        fingerprint: str = "",
        **given: Any,
    ) -> Json:
        """Carry out an operation of the catalogue, on a session by its id, and return the result. A
        read over all sessions is narrowed to the one given. `fingerprint`: of the preview that was
        agreed to. Raises Refused, and NotAgreed if the user has to agree first to what it would do.
        """
        ...

    def heads(self, *, probe: bool = False, hidden: bool = True) -> list[Json]:
        """Return every session as lists know it, newest news first. With `probe`, `hung` tells
        whether its worker does not respond. Without `hidden`, archived and snoozed ones may be
        missing."""
        ...

    def tidy(self, heads: list[Json]) -> list[str]:
        """End what killed workers left behind and wake what is due; return messages about it."""
        ...

    def notices(self) -> list[str]:
        """Return messages for the user that concern every session."""
        ...

    def directory(self) -> str:
        """Return the directory where a new session works unless another one is named."""
        ...

    def head(self, session: str) -> Json | None: ...

    def find(self, name: str) -> str:
        """Return the session with that id, unique prefix of one, or title. Raises UnknownSession,
        Ambiguous."""
        ...

    def history(self, session: str) -> History: ...
    def open(self, session: str, client: str = "cli") -> Session: ...

    def export(self, session: str, form: str, turns: "Turns") -> Iterable[bytes]:
        """Return the session as a file (`rookery.export`), piece by piece."""
        ...

    def create(  # noqa: PLR0913 - a session is made of all of these
        self,
        *,
        agent: str,
        cwd: str,
        argv: Sequence[str] = (),
        roots: Sequence[str] = (),
        title: str = "",
        confirm: str = "",
        order: "Order | None" = None,
        sandbox: str = "",
        budget: Mapping[str, str] = ...,
        worktree: str | None = None,
        race: str = "",
        picks: Mapping[str, str] = ...,
        report: Notify = lambda _: None,
        **chosen: bool | None,
    ) -> str:
        """Create a session and return its id. Nothing is started: the first prompt does that.
        `agent`: one that is installed there; "": the default one. `worktree`: the name of its own
        one; "": it gets one. `picks`: the mode and the model of its agent. `report` gets progress
        messages."""
        ...

    def falls_asleep(self, session: str, within: float) -> bool:
        """Wait up to `within` seconds for the session's worker to go; return whether it has."""
        ...

    def fleet(self, looked: "asyncio.Event", on_link: Notify) -> AsyncIterator[list[Block]]:
        """Yield the ordered session list on every change. `looked`: look now."""
        ...

    def mark_seen(self, session: str, seq: int) -> None:
        """Record that the events up to `seq` were shown to the user."""
        ...

    def hung(self, session: str, patience: float) -> bool: ...
    def close(self) -> None: ...
