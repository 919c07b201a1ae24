"""Routes that return what a session keeps as files: its export, and the blobs that its
events name."""

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from rookery.client import attach
from rookery.core.json import image_bytes
from rookery.core.json.secrets import masked
from rookery.daemon.api.answers import sends
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, SessionId
from rookery.export import Turns, files, pieces
from rookery.export.session import TYPES
from rookery.home import paths
from rookery.log.reader import Reader

router = APIRouter(tags=["history"])

HASH = "^[0-9a-f]{64}$"
KINDS = (*sorted(image_bytes.KINDS), "text/plain", "application/octet-stream")


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

    name, chunks = await asyncio.to_thread(begin)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return StreamingResponse(_sent(chunks), media_type=TYPES[form], headers=headers)


async def _sent(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    try:
        while (piece := await asyncio.to_thread(next, chunks, None)) is not None:
            yield piece
    finally:  # also when the client went away
        if isinstance(chunks, Generator):
            await asyncio.to_thread(chunks.close)


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
