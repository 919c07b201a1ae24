"""Reading one session: its transcript, in full and in short, and the logs of its processes."""

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from rookery.core.json import Event as LogEvent
from rookery.log.ending import ROOM
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read

if TYPE_CHECKING:
    from rookery.log.reader import Reader

GROUP = "Look"
WHEN = "In milliseconds since the epoch."
LARGEST = 2**53
MAX_LOG_BYTES, SOME = 10 * 1024 * 1024, 64 * 1024
"""Sizes in bytes: how much of a log is kept, and how much of it is read by default."""

type Log = Literal["agent", "worker"]

Before = Annotated[int | None, Arg("Only what came before this event.", 0, LARGEST, metavar="SEQ")]
Of = Annotated[
    Log,
    Arg(
        "Whose log it is.",
        each={"agent": "Only the agent's stderr.", "worker": "Only the worker's stderr."},
    ),
]
Bytes = Annotated[
    int, Arg("At most so many bytes of its end.", minimum=1, maximum=MAX_LOG_BYTES, typed=False)
]
After = Annotated[
    str,
    Arg(
        "The `place` of an earlier answer: only what was logged since then.",
        pattern=r"^([0-9]+\.[0-9]+)?$",
        max_length=50,
        typed=False,
    ),
]


Seq = Annotated[int | None, Arg("The number of an event.", minimum=0, maximum=LARGEST)]
Turn = Annotated[int | None, Arg("The number of a turn, from 0.", minimum=0, maximum=10**9)]
Limit = Annotated[int, Arg("The number of events, about.", minimum=1, maximum=10_000)]
Room = Annotated[int, Arg("Bytes of events, about.", minimum=1, maximum=ROOM)]
Cause = Annotated[str, Arg("The outcome of the command with this id.", max_length=200)]
SEQS = r"^([0-9]{1,18}(,[0-9]{1,18})*)?$"
Seqs = Annotated[str, Arg("Those with these numbers: 3,14.", pattern=SEQS, max_length=4000)]


class Block(TypedDict):
    """One thing in a transcript: a prompt, an answer, a tool call, an ask."""

    id: str
    role: Annotated[str, "user, agent, tool, …"]
    title: str
    text: str
    status: str
    parts: list[Any]
    actions: list[Any]
    parent: Annotated[str | None, "The block it is in."]


class Document(TypedDict):
    """A part of a session as blocks, with its header."""

    topic: Annotated[str, "The session's id."]
    seq: Annotated[int, "The last event in it: subscribe to the stream from here."]
    first: Annotated[int, "The first event in it; request earlier ones with this."]
    above: Annotated[bool, "Whether the turn has earlier events."]
    cut: Annotated[bool, "Whether a long text is cut to its end."]
    header: Annotated[
        dict[str, Any], "Agent, model, mode, options, commands, plan, open asks, queue, usage."
    ]
    blocks: list[Block]


class Event(TypedDict):
    seq: Annotated[int, "Contiguous from 1 within a session."]
    at: Annotated[int, WHEN]
    cause: Annotated[str | None, "The id of the command whose outcome it is."]
    by: Annotated[str | None, "Which client, rule or watchdog."]
    update: Annotated[
        dict[str, Any],
        "ACP's `session/update`, or one of Rookery's own, whose kind begins with `_`.",
    ]


class Events(TypedDict):
    events: list[Event]
    last: Annotated[int, "The last event of the session."]


class Part(TypedDict):
    header: Annotated[dict[str, Any], "Before its events."]
    events: Annotated[list[Event], "Of one turn."]
    above: Annotated[bool, "Whether the turn has earlier events."]


class Header(TypedDict):
    header: dict[str, Any]
    seq: Annotated[int, "The last event of the session."]


class Turns(TypedDict):
    turns: Annotated[int, "The number of the last turn; 0: there is none yet."]
    last: Annotated[int, "The last event of the session."]
    turn: int
    first: Annotated[int, "Its first event, or that of the next turn; 0: there is none."]
    begins: Annotated[int, f"Its first event; 0: it has none. {WHEN}"]
    ends: Annotated[int, f"Its last event. {WHEN}"]


class Recap(TypedDict):
    text: Annotated[str, "As Markdown; empty: nothing was said yet."]


class Logged(TypedDict):
    text: str
    place: Annotated[str, "What to ask for the rest with, as `after`; empty: there is no log."]


@read(
    "Recap",
    on="session",
    group=GROUP,
    more="what was said, for another agent",
    examples=("3f2a > recap.md && $EDITOR recap.md && rookery prompt 3f2a - < recap.md",),
)
def recap(at: At, before: Before = None) -> Recap:
    """Print a recap of a session for another agent. Nothing is sent: read it, edit it, send it.

    It covers what came before the last switch, clear or reset, or the whole conversation if there
    was none: the last 20 turns, at most 24,000 characters, plus the prompt that was not processed.
    """
    from rookery.client import reading

    with _log(at) as log:
        return {"text": reading.recap(log, before or None).text()}


@read(
    "Logs",
    on="session",
    group=GROUP,
    more="of its agent and its worker",
    examples=("3f2a", "3f2a --agent -f"),
)
def logs(at: At, of: Of = "agent", bytes_: Bytes = SOME, after: After = "") -> Logged:
    """Print what a session's agent and worker logged. That is what they wrote to stderr."""
    from rookery.home import paths
    from rookery.home.log_rotation import BEFORE
    from rookery.log.errors import NoSession

    directory = paths.session_dir(at.home, at.session)
    if not os.path.isdir(directory):
        raise NoSession("The session is gone.")
    path = os.path.join(directory, paths.WORKER_LOG if of == "worker" else paths.AGENT_LOG)
    known, _, offset = after.partition(".")
    try:
        with open(path, "rb") as file:
            inode, size = os.fstat(file.fileno()).st_ino, file.seek(0, 2)
            same = known == str(inode) and int(offset) <= size  # else it was put aside
            since = int(offset) if same else 0
            begin = max(size - bytes_, since)
            file.seek(begin)
            data = file.read()
            place = f"{inode}.{file.tell()}"
    except FileNotFoundError:
        return {"text": "", "place": ""}
    left = bytes_ - len(data)
    if not after and left > 0:
        data, begin = _end_of(path + BEFORE, left, data)
    text = data.decode(errors="replace")
    if begin > since:  # its first line may be the end of a secret, which has no shape
        text = text.partition("\n")[2]
    return {"text": text, "place": place}


def _end_of(path: str, most: int, rest: bytes) -> tuple[bytes, int]:
    """Return the end of the part that was put aside, followed by `rest`; and how many bytes are
    left out before it."""
    try:
        with open(path, "rb") as file:
            begin = max(0, file.seek(0, 2) - most)
            file.seek(begin)
            return file.read() + rest, begin
    except FileNotFoundError:
        return rest, 0


# --- in full -------------------------------------------------------------------------------------

_of_its_log = partial(read, on="session", group=GROUP, listed=False, typed=False)


def _log(at: At) -> "Reader":
    from rookery.home import paths
    from rookery.log.reader import Reader

    return Reader.open(paths.session_dir(at.home, at.session))


def _shown(events: Sequence[LogEvent]) -> list[Any]:
    return [event._asdict() for event in events]


def snapshot(log: "Reader", session: str, upto: int | None = None) -> Any:
    """Return the end of a session, as far as it opens at once."""
    from rookery.client.reading import excerpt

    upto = log.last_seq() if upto is None else upto
    tail = excerpt(log, upto)
    place = {"topic": session, "seq": upto, "first": tail.first, "above": tail.above}
    return {**place, "cut": tail.cut, **tail.document.to_json()}


@_of_its_log("Transcript")
def document(at: At, before: Seq = None) -> Document:
    """Read the end of a session as blocks, with its header: whole blocks, at most 5 MiB. `before`:
    what stands before that event."""
    with _log(at) as log:
        shown: Document = snapshot(log, at.session, None if before is None else max(0, before - 1))
        return shown


@_of_its_log("Events")
def events(
    at: At,
    after: Seq = None,
    before: Seq = None,
    limit: Limit = 1000,
    turn: Turn = None,
    cause: Cause = "",
    seqs: Seqs = "",
) -> Events:
    """Read raw events: the first after `after`, or the last before `before`, in whole turns: a turn
    of more than `limit` events comes as a whole if it has at most 1,000. Or those of one `turn`."""

    def selected(log: "Reader") -> Sequence[LogEvent]:
        if seqs:
            return log.some(map(int, seqs.split(",")))
        if cause:
            outcome = log.find(cause)
            return [outcome] if outcome else []
        if turn is not None:
            return log.page(turn)
        if after is not None or before is None:
            return log.read(after or 0, limit, None if before is None else before - 1)
        return log.before(before, limit)

    with _log(at) as log:
        return {"events": _shown(selected(log)), "last": log.last_seq()}


@_of_its_log("The end of the last turn")
def part(at: At, upto: Seq = None, room: Room = ROOM) -> Part:
    """Read the end of the last turn as raw events with the header before them, or what stands up to
    an event."""
    with _log(at) as log:
        header, events, above = log.part(upto, room)
        return {"header": header.raw, "events": _shown(events), "above": above}


@_of_its_log("Header")
def header(at: At, turn: Turn = None) -> Header:
    """Read agent, model, mode, options, commands, plan, open asks, queue and usage, as they are now
    or as a turn began."""
    with _log(at) as log:
        fields = log.header() if turn is None else log.header_before(turn)
        return {"header": fields.raw, "seq": log.last_seq()}


@_of_its_log("Turns")
def turns(at: At, turn: Turn = None, seq: Seq = None) -> Turns:
    """Tell where a turn begins and when it was: that one, that of the event `seq`, or the last."""
    with _log(at) as log:
        last = log.turns()
        n = turn if turn is not None else last if seq is None else log.turn_of(seq)
        begins, ends = log.spans(n)
        return Turns(
            turns=last,
            last=log.last_seq(),
            turn=n,
            first=log.first_seq(n),
            begins=begins,
            ends=ends,
        )
