"""ACP over a network: `/acp` is the protocol's WebSocket transport. Each connection is a bridge
like `rookery acp`; closing one affects nothing else (docs/decisions/0042-acp-over-a-network.md)."""

import asyncio
from contextlib import suppress

from fastapi import APIRouter, FastAPI, WebSocket, WebSocketDisconnect

from rookery.acp.bridge.connections import Connections
from rookery.core.refusals import Refused
from rookery.daemon.access.gate import DEVICE
from rookery.daemon.errors import Problem, problem_of
from rookery.daemon.state import State
from rookery.wire.websocket.resuming import BROKEN, CONNECTION, NORMAL, RECEIVED
from rookery.wire.websocket.served import Served

router = APIRouter(tags=["acp"])


@router.websocket("/acp")
async def acp(socket: WebSocket) -> None:
    connections = _connections(socket.app)
    received = socket.headers.get(RECEIVED)
    try:
        connection = _taken(connections, socket, received)
    except Refused as error:
        await socket.send_denial_response(problem_of(error).response())
        return
    headers = [(name.encode(), value.encode()) for name, value in connection.headers().items()]
    await socket.accept(headers=headers)
    turn = connection.attach(int(received) if connection.resumes and received else 0)
    sending = asyncio.create_task(_send(socket, connection, turn), name="acp")
    code = BROKEN
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                code = message.get("code") or BROKEN
                break
            if (text := message.get("text")) is not None:  # binary frames are ignored
                connection.take(turn, text)
    except asyncio.CancelledError:
        connection.end()  # its device was logged out: nobody may resume it
        raise
    finally:
        sending.cancel()
        connections.left(connection, turn, code)


def count(app: FastAPI) -> int:
    return len(_connections(app))


def _connections(app: FastAPI) -> Connections:
    daemon: State = app.state.rookery
    if not hasattr(app.state, "acp"):
        app.state.acp = Connections(daemon.home)
    connections: Connections = app.state.acp
    return connections


def _taken(connections: Connections, socket: WebSocket, received: str | None) -> Served:
    device = socket.scope.get(DEVICE)
    owner = "" if device is None else device.id
    connection = connections.taken(socket.headers.get(CONNECTION), received, owner)
    if connection is None:
        raise Problem(
            404,
            "unknown_connection",
            "This connection is no longer known.",
            "Connect without Acp-Connection-Id, then load the session.",
        )
    return connection


async def _send(socket: WebSocket, connection: Served, turn: int) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # it is gone; the reader says so
        while (text := await connection.next(turn)) is not None:
            await socket.send_text(text)
        await socket.close(NORMAL)
