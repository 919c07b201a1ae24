"""What happened in a session: its end as a document, raw events, the recap, its logs."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from rookery.client import attach
from rookery.core.json import Event, Json, image_bytes
from rookery.core.json.secrets import masked
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads, sends
from rookery.daemon.api.bodies import LARGEST
from rookery.daemon.errors import Problem
from rookery.daemon.followed import snapshot
from rookery.daemon.state import Daemon, SessionId
from rookery.export import Turns, files, pieces
from rookery.export.session import TYPES
from rookery.home import paths
from rookery.log.ending import ROOM
from rookery.log.reader import Reader

router = APIRouter(tags=["history"])

TEXT = sends("text/plain")
HASH = "^[0-9a-f]{64}$"
KINDS = (*sorted(image_bytes.KINDS), "text/plain", "application/octet-stream")

Seq = Annotated[int | None, Query(ge=0, le=LARGEST)]


@router.get(
    "/api/sessions/{session}/document",
    responses=reads(shapes.Document, 409),
    response_class=Masked,
)
async def read_document(daemon: Daemon, session: SessionId, before: Seq = None) -> Response:
    """The end of a session as blocks, with its header: whole blocks, at most 5 MiB. `before`: what
    stands before that event."""

    def read() -> Json:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            upto = None if before is None else max(0, before - 1)
            return snapshot(log, session, upto)

    return await asyncio.to_thread(lambda: Masked(read()))


Turn = Annotated[int | None, Query(ge=0, le=10**9)]
Numbers = Annotated[
    str, Query(max_length=4000, pattern=r"^([0-9]{1,18}(,[0-9]{1,18})*)?$", examples=["3,14"])
]


@router.get(
    "/api/sessions/{session}/events", responses=reads(shapes.Events, 409), response_class=Masked
)
async def read_events(
    daemon: Daemon,
    session: SessionId,
    after: Seq = None,
    before: Seq = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    turn: Turn = None,
    cause: Annotated[str, Query(max_length=200)] = "",
    seqs: Numbers = "",
) -> Response:
    """Raw events: the first after `after`, or the last before `before`, in whole turns: a turn of
    more than `limit` events comes as a whole if it has at most 1,000. Or those of one `turn`, the
    outcome of the command with the id `cause`, or those with these numbers (`seqs`)."""

    def found(log: Reader) -> Sequence[Event]:
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

    def read() -> Json:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            events = found(log)
            return {"events": [event._asdict() for event in events], "last": log.last_seq()}

    return await asyncio.to_thread(lambda: Masked(read()))


@router.get(
    "/api/sessions/{session}/part", responses=reads(shapes.Part, 409), response_class=Masked
)
async def read_part(
    daemon: Daemon,
    session: SessionId,
    upto: Seq = None,
    room: Annotated[int, Query(ge=1, le=ROOM, description="Bytes, about.")] = ROOM,
) -> Response:
    """The end of the last turn as raw events with the header before them, or what stands up to an
    event."""

    def read() -> Json:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            header, events, above = log.part(upto, room)
        return {
            "header": header,
            "events": [event._asdict() for event in events],
            "above": above,
        }

    return await asyncio.to_thread(lambda: Masked(read()))


@router.get(
    "/api/sessions/{session}/header", responses=reads(shapes.Header, 409), response_class=Masked
)
async def read_header(
    daemon: Daemon,
    session: SessionId,
    turn: Annotated[Turn, Query(description="As that turn began; empty: as it is now.")] = None,
) -> Response:
    """Agent, model, mode, options, commands, plan, open asks, queue, usage."""

    def read() -> Json:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            header = log.header() if turn is None else log.header_before(turn)
            return {"header": header, "seq": log.last_seq()}

    return await asyncio.to_thread(lambda: Masked(read()))


@router.get("/api/sessions/{session}/turns", responses=reads(shapes.Turns, 409))
async def read_turns(
    daemon: Daemon, session: SessionId, turn: Turn = None, seq: Seq = None
) -> shapes.Turns:
    """Where a turn begins and when it was: one `turn`, that of the event `seq`, or the last."""

    def read() -> shapes.Turns:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            every = log.turns()
            n = turn if turn is not None else every if seq is None else log.turn_of(seq)
            begins, ends = log.spans(n)
            place = {"turn": n, "first": log.first_seq(n), "begins": begins, "ends": ends}
            return shapes.Turns(turns=every, last=log.last_seq(), **place)

    return await asyncio.to_thread(read)


@router.get(
    "/api/sessions/{session}/export",
    responses=sends(*(kind.partition(";")[0] for kind in TYPES.values())),
    response_class=StreamingResponse,
)
async def export_session(
    daemon: Daemon,
    session: SessionId,
    form: Annotated[Literal["md", "jsonl", "html"], Query(alias="format")] = "md",
    first: Annotated[int, Query(ge=0, le=10**9, description="The first turn.")] = 0,
    last: Annotated[int | None, Query(ge=0, le=10**9, description="The last turn.")] = None,
) -> Response:
    """A session as a file: Markdown, JSON lines or one HTML page that needs nothing else."""

    def begin() -> tuple[str, Iterator[bytes]]:
        name = files.name_for(daemon.home, session, form)
        now = time.time() * 1000
        return name, pieces(daemon.home, session, form, Turns(first, last), now)

    name, found = await asyncio.to_thread(begin)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return StreamingResponse(_sent(found), media_type=TYPES[form], headers=headers)


async def _sent(found: Iterator[bytes]) -> AsyncIterator[bytes]:
    try:
        while (piece := await asyncio.to_thread(next, found, None)) is not None:
            yield piece
    finally:  # also when the client went away
        if isinstance(found, Generator):
            await asyncio.to_thread(found.close)


@router.get(
    "/api/sessions/{session}/blobs/{name}", responses=sends(*KINDS), response_class=Response
)
async def read_blob(
    daemon: Daemon,
    session: SessionId,
    name: Annotated[str, Path(pattern=HASH, description="The hash that an event names it by.")],
) -> Response:
    """Bytes that the log keeps: a picture of a prompt or of the agent's, a file of a prompt.

    An image is sent as one if its bytes are one and it is not too large to be drawn; all else is
    plain text, or bytes to be saved.
    """

    def read() -> bytes | None:
        with Reader.open(paths.session_dir(daemon.home, session)) as log:
            return log.blob(name)

    data = await asyncio.to_thread(read)
    if data is None:
        raise Problem(404, "unknown_blob", "The log has no such bytes.")
    kind = attach.mime_of(data, "")
    if kind == "text/plain":
        return PlainTextResponse(masked(data.decode()))
    picture = image_bytes.look_at(data)
    if picture is not None and not picture.refusal:
        return Response(data, media_type=picture.kind)
    kind = "application/octet-stream"
    return Response(data, media_type=kind, headers={"Content-Disposition": "attachment"})
