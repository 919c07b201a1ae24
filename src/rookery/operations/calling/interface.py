"""What a face can do with a Rookery and with one of its sessions, wherever they are."""

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

type Told = Callable[[str], object]


class Session(Protocol):
    """One session. One task at a time follows it, any number send."""

    session: str
    on_silence: Callable[[], object]
    """Called once for a command that the session's worker takes no notice of."""
    on_link: Told
    """Called with why the connection broke, and with "" when it stands again; never for a session
    of this machine."""

    @property
    def log(self) -> History: ...

    def follow(self, since: int = 0) -> AsyncIterator[Event]:
        """Every event after `since`, in order, each once, for ever."""
        ...

    async def send(self, command: Json, *, files: "Sequence[Attachment]" = ()) -> Event:
        """Send a command, and files with a prompt, until its outcome is known; the outcome."""
        ...

    async def renew(self, command: Json) -> str:
        """Give an agent that the command starts again this terminal's environment; what changed,
        in words."""
        ...

    def mark_seen(self, seq: int) -> None:
        """The events up to there were shown to the user."""
        ...

    def is_gone(self) -> bool:
        """Whether it was deleted."""
        ...

    def discard_unbegun(self) -> None:
        """Delete it, where no prompt ever reached it."""
        ...

    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


class Rookery(Protocol):
    """All sessions of one home."""

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
        """Carry out an operation of the catalogue, on a session by its id; what came of it. What is
        read of all sessions is read of that one. `fingerprint`: of the preview that was agreed to.
        Raises Refused, and NotAgreed: what it would do has to be agreed to first."""
        ...

    def heads(self, *, probe: bool = False, hidden: bool = True) -> list[Json]:
        """Every session as lists know it, newest news first. `probe`: with `hung`, whether its
        worker does not respond. Not `hidden`: archived and snoozed ones may be missing."""
        ...

    def tidy(self, heads: list[Json]) -> list[str]:
        """End what killed workers left behind and wake what is due; what there is to say of it."""
        ...

    def notices(self) -> list[str]:
        """What concerns every session, and the user should know."""
        ...

    def directory(self) -> str:
        """Where a new session works unless another place is named."""
        ...

    def head(self, session: str) -> Json | None: ...

    def find(self, name: str) -> str:
        """The session with that id, unique prefix of one, or title. Raises UnknownSession,
        Ambiguous."""
        ...

    def history(self, session: str) -> History: ...
    def open(self, session: str, client: str = "cli") -> Session: ...

    def export(self, session: str, form: str, turns: "Turns") -> Iterable[bytes]:
        """It as a file (`rookery.export`), piece by piece."""
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
        told: Told = lambda _: None,
        **chosen: bool | None,
    ) -> str:
        """A new session's id. Nothing is started: the first prompt does that. `agent`: one that is
        installed there; "": the default one. `worktree`: the name of its own one; "": it gets one.
        `picks`: the mode and the model of its agent. `told` gets what is said meanwhile."""
        ...

    def falls_asleep(self, session: str, within: float) -> bool:
        """Whether its worker has gone within that many seconds."""
        ...

    def fleet(self, looked: "asyncio.Event", on_link: Told) -> AsyncIterator[list[Block]]:
        """The session list, in order, each time that it changed. `looked`: look now."""
        ...

    def mark_seen(self, session: str, seq: int) -> None:
        """The events up to there were shown to the user."""
        ...

    def hung(self, session: str, patience: float) -> bool: ...
    def close(self) -> None: ...
