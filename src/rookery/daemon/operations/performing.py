"""Carrying out operations for requests: commands by the session's worker, works and reads by the
daemon. A request repeated with the same key is carried out once; clients that ask for it are sent
progress."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from rookery.client.fleet import UnknownSession
from rookery.core.json import Json, dumps, loads
from rookery.core.json.secrets import encoded, masked
from rookery.core.refusals import Refused
from rookery.daemon.api.answers import Masked
from rookery.daemon.api.commands import sent
from rookery.daemon.errors import Problem, internal, problem_of
from rookery.daemon.state import State, session_named
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.operations.calling.carrying import agree, carry_out
from rookery.operations.catalogue.results import text_of
from rookery.operations.catalogue.row import FINGERPRINT, At, Report, Row, unheard

STREAM, PLAIN = "text/event-stream", "text/plain"
PING = 30.0
"""Seconds between two comments while nothing is reported: proxies end what is silent."""


async def session_of(daemon: State, row: Row, name: str) -> str:
    """Return the id of the session that an operation acts on. Raises UnknownSession, Ambiguous,
    Problem."""
    whole = row.traits.whole_id
    try:
        session = await asyncio.to_thread(session_named, daemon, name)
    except UnknownSession:
        if whole and paths.is_id(name):  # a request that came before may have removed it
            return name
        raise
    if whole and session != name:
        message = "A title could mean another session."
        raise Problem(409, "whole_id", message, "Use the session's whole id.")
    return session


async def perform(
    daemon: State, row: Row, session: str, given: Json, key: str = "", *, agreed: bool = False
) -> Json:
    """Carry out an operation and return its result. With `agreed`, no preview has to be confirmed.
    Raises Problem, and whatever the operation raises."""
    return await _performed(daemon, row, session, given, key, unheard, agreed=agreed)


async def answered(
    daemon: State, row: Row, session: str, given: Json, key: str, request: Request
) -> Response:
    """Carry out an operation and return the response: an event stream with progress, plain text for
    a read, or JSON, depending on what the request accepts."""
    accepted = request.headers.get("accept", "")
    if STREAM in accepted and not row.is_sent:
        return StreamingResponse(_news(daemon, row, session, given, key), media_type=STREAM)
    done = await perform(daemon, row, session, given, key)
    as_text = row.kind == "read" and accepted.startswith(PLAIN)
    return await asyncio.to_thread(_as_text if as_text else Masked, done)


def _as_text(done: Json) -> Response:
    return PlainTextResponse(masked(text_of(done)))


async def _performed(
    daemon: State,
    row: Row,
    session: str,
    given: Json,
    key: str,
    report: Report,
    *,
    agreed: bool = False,
) -> Json:
    fingerprint = None if agreed else str(given.get(FINGERPRINT) or "")
    arguments = {name: value for name, value in given.items() if name != FINGERPRINT}
    if (refusal := row.check(arguments)) is not None:
        remedy = "GET /api/v1/operations has the schema of its arguments."
        raise Problem(422, refusal.reason, refusal.message, remedy)
    if row.is_sent:
        if not await asyncio.to_thread(_is_done, daemon, row, session, key):
            at = At(daemon.home, session, agreed=fingerprint)
            await asyncio.to_thread(agree, row, at, arguments)
        command = row.command(arguments) | ({"id": key} if key else {})
        command |= {FINGERPRINT: fingerprint} if fingerprint else {}
        return (await sent(daemon, session, command)).model_dump()

    def work(name: str, again: bool) -> Json:
        at = At(daemon.home, session, report, name, again)
        return carry_out(row, at, arguments, fingerprint)

    if row.traits.for_new and daemon.options.read_only:
        message = "This Rookery is read-only: no session can be created."
        raise Problem(403, "read_only", message, "Start it without --read-only.")
    if row.kind == "read":
        content = await asyncio.to_thread(work, "", False)
        return content if row.traits.masks is None else row.traits.masks(content)
    kept = key if row.traits.once == "key" else ""
    request = f"{row.name} {session} {json.dumps(arguments, sort_keys=True)}"
    result: Json = await daemon.results.kept(kept, request, work)
    await daemon.hub.look()
    return result


def _is_done(daemon: State, row: Row, session: str, key: str) -> bool:
    """Tell whether a command that needs confirmation was sent before; if so, it is not asked for
    again."""
    if row.traits.preview is None or not key:
        return False
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        return log.find(key) is not None


async def _news(daemon: State, row: Row, session: str, given: Json, key: str) -> AsyncIterator[str]:
    """Yield progress, then the result or a refusal, as server-sent events. The work goes on if
    nobody listens."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any]]()

    def report(sentence: str) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, ("progress", {"message": sentence}))

    def end(work: asyncio.Task[Json]) -> None:
        error = None if work.cancelled() else work.exception()
        if error is None:
            lines.put_nowait(("result", {} if work.cancelled() else work.result()))
            return
        problem = problem_of(error) if isinstance(error, Refused) else None
        if problem is None:  # a bug: the daemon's log says which
            loop.call_exception_handler({"message": f"{row.name} failed", "exception": error})
            problem = internal()
        lines.put_nowait(("refusal", {"status": problem.status, **problem.body()}))

    performing = _performed(daemon, row, session, given, key, report)
    working = asyncio.create_task(performing, name=f"operation {row.name}")
    working.add_done_callback(end)
    kind = "progress"
    while kind == "progress":
        try:
            async with asyncio.timeout(PING):
                kind, payload = await lines.get()
        except TimeoutError:
            yield ": still here\n\n"
            continue
        content = payload if kind == "refusal" else loads(encoded(payload))
        yield f"event: {kind}\ndata: {dumps(content)}\n\n"
