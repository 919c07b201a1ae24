"""Live updates: one WebSocket for any number of topics, or server-sent events for scripts.

client to daemon   subscribe {topic, after, form, epoch}, unsubscribe {topic}; from a
                   browser's tab also proof {signature}
daemon to client   snapshot {topic, seq, …}, then ops {topic, seq, ops},
                   events {topic, seq, events} or page {topic, seq, ops}, as `form` says;
                   lagged {topic}: too much was queued, subscribe again from your seq;
                   ended {topic, message}; error {error, message, remedy}; to a tab also
                   prove {challenge}"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import Response, StreamingResponse

from rookery.client.fleet import UnknownSession, head_of_session
from rookery.core.json import Json, dumps, lenient, loads
from rookery.core.refusals import Refused
from rookery.daemon.access import tabs
from rookery.daemon.access.gate import LOGGED_OUT, TAB
from rookery.daemon.access.recognition import SUBPROTOCOL
from rookery.daemon.access.tabs import Tab
from rookery.daemon.api.answers import sends
from rookery.daemon.api.bodies import LARGEST
from rookery.daemon.errors import Problem, problem_of
from rookery.daemon.fleet import FLEET
from rookery.daemon.followed import FORMS, OPS
from rookery.daemon.hub import TOPICS
from rookery.daemon.state import Daemon, State
from rookery.daemon.watcher import Watcher
from rookery.home import paths
from rookery.wire import frames

router = APIRouter(tags=["stream"])

PING = 30.0
"""Seconds between two comments in a quiet stream: proxies end what is silent."""


@router.websocket("/api/stream")
async def stream(socket: WebSocket) -> None:
    daemon: State = socket.app.state.rookery
    tab: Tab | None = socket.scope[TAB]
    await socket.accept(SUBPROTOCOL if tab else None)
    watcher = daemon.hub.enter()
    sending = asyncio.create_task(_send(socket, watcher), name="stream")
    proofs = asyncio.Queue[str](1)
    proving = asyncio.create_task(_prove(socket, watcher, proofs), name="proofs") if tab else None
    try:
        while True:
            await _take(daemon, watcher, await socket.receive_text(), proofs)
    except (WebSocketDisconnect, KeyError):
        pass
    finally:
        sending.cancel()
        if proving:
            proving.cancel()
        await daemon.hub.leave(watcher)


async def _send(socket: WebSocket, watcher: Watcher) -> None:
    while (message := await watcher.next()) is not None:
        await socket.send_text(message)


async def _prove(socket: WebSocket, watcher: Watcher, proofs: asyncio.Queue[str]) -> None:
    """Ask the tab periodically to sign with its key, and close the stream if it does not."""
    devices, tab = socket.app.state.rookery.devices, socket.scope[TAB]
    while True:
        await asyncio.sleep(tabs.PROOF_SECONDS)
        challenge = devices.tabs.challenge(time.monotonic())
        watcher.insist(dumps({"prove": {"challenge": challenge}}))
        signature = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(tabs.CHALLENGE_SECONDS):
                signature = await proofs.get()
        device = devices.find(tab.device)
        now = time.monotonic()
        if not device or not devices.tabs.accepts(device.key, challenge, signature, now):
            await socket.close(LOGGED_OUT, "not proved")
            return


async def _take(daemon: State, watcher: Watcher, text: str, proofs: asyncio.Queue[str]) -> None:
    try:
        kind, body = frames.kind_and_body(loads(text))
        if kind == "proof":
            with suppress(asyncio.QueueFull):
                proofs.put_nowait(lenient.text(body, "signature"))
            return
        await _do(daemon, watcher, kind, body if isinstance(body, dict) else {})
    except ValueError:
        problem = Problem(400, "bad_frame", "A frame must be JSON.", "See /api/docs.")
        watcher.insist(dumps({"error": problem.body()}))
    except Refused as error:
        watcher.insist(dumps({"error": problem_of(error).body()}))


async def _do(daemon: State, watcher: Watcher, kind: str, body: Json) -> None:
    topic = lenient.text(body, "topic")
    match kind:
        case "subscribe":
            if len(watcher.topics) >= TOPICS:
                raise Problem(429, "too_many_topics", f"At most {TOPICS} topics at once.")
            form = lenient.text(body, "form", OPS)
            if form not in FORMS:
                message = f"`form` can be {', '.join(FORMS[:-1])} or {FORMS[-1]}."
                raise Problem(400, "bad_form", message)
            _check(daemon, topic)
            after, epoch = lenient.integer(body, "after"), lenient.text(body, "epoch")
            await daemon.hub.subscribe(watcher, topic, form, after, epoch)
        case "unsubscribe":
            await daemon.hub.unsubscribe(watcher, topic)
        case _:
            raise Problem(400, "bad_frame", "A frame is {subscribe: …} or {unsubscribe: …}.")


def _check(daemon: State, topic: str) -> None:
    if topic == FLEET:
        return
    if not paths.is_id(topic) or head_of_session(daemon.home, topic) is None:
        raise UnknownSession(topic)


Topic = Annotated[str, Query(max_length=64, description="`fleet`, or a session's id.")]


@router.get(
    "/api/events",
    responses=sends("text/event-stream"),
    response_class=StreamingResponse,
)
async def read_stream(
    daemon: Daemon,
    topic: Topic,
    after: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    form: Literal["ops", "events", "page"] = "ops",
    last_event_id: Annotated[str, Header(max_length=40)] = "",
) -> Response:
    """The same as server-sent events: each has the seq that it goes up to as its id, and a client
    that comes back with `Last-Event-ID` goes on from there."""
    _check(daemon, topic)
    if last_event_id.isdecimal():
        after = int(last_event_id)
    watcher = daemon.hub.enter()
    async with AsyncExitStack() as undo:
        undo.push_async_callback(daemon.hub.leave, watcher)
        await daemon.hub.subscribe(watcher, topic, form, after)
        undo.pop_all()
    return StreamingResponse(_lines(daemon, watcher), media_type="text/event-stream")


async def _lines(daemon: State, watcher: Watcher) -> AsyncIterator[str]:
    try:
        while True:
            try:
                async with asyncio.timeout(PING):
                    message = await watcher.next()
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if message is None:
                return
            body: dict[str, Any] = loads(message)
            for kind, payload in body.items():
                seq = lenient.integer(payload, "seq")
                name = "" if seq is None else f"id: {seq}\n"
                yield f"{name}event: {kind}\ndata: {dumps(payload)}\n\n"
                if kind in ("lagged", "ended"):
                    return  # the client comes back with its id
    finally:
        await daemon.hub.leave(watcher)
