"""MCP servers that an editor provides over ACP: requests of a session's agent reach the editor over
a connection to the worker that exists before the agent starts."""

import asyncio
from collections.abc import Sequence
from functools import partial

from rookery.core.json import Json, lenient
from rookery.wire import mcp
from rookery.wire.failures import RpcError, error_to_json
from rookery.wire.frames import COMMAND_BYTES, Link, WorkerRefused, encode
from rookery.wire.jsonrpc import Answer, Peer

LOOKS = 0.1
"""Seconds between two looks for a worker: the agent asks as soon as it is there."""


def servers_in(given: Sequence[Json]) -> list[str]:
    """Return the ids of the servers that are reached over ACP."""
    ids = [lenient.text(each, "serverId") for each in given if each.get("type") == mcp.KIND]
    return [id for id in ids if id]


class Provided:
    """The MCP servers of one session. `heard` takes notifications about the requests."""

    def __init__(self, peer: Peer, group: asyncio.TaskGroup, socket: str, name: str) -> None:
        """`name`: the bridge's name as a client of the worker."""
        self._peer = peer
        self._group = group
        self._socket = socket
        self._name = name
        self._servers: list[str] = []
        self._serving: asyncio.Task[None] | None = None
        self._calls: dict[str, tuple[mcp.Envelope, Link, int]] = {}
        """By the worker's name for it: the id is that of our request to the editor."""

    def offer(self, given: Sequence[Json]) -> None:
        """Offer these servers, and no others any longer."""
        servers = servers_in(given)
        if servers != self._servers or self._serving is None:
            self.close()
            self._servers = servers
            if servers:
                self._serving = self._group.create_task(self._serve(), name="MCP over ACP")

    def close(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            self._serving = None

    async def _serve(self) -> None:
        offers = [mcp.offer_of(id) for id in self._servers]
        while True:
            link = await Link.open(self._socket, self._name, 0, offers)
            if link is None:
                await asyncio.sleep(LOOKS)
                continue
            try:
                while (frame := await link.frame()) is not None:
                    self._take(link, frame)
            except WorkerRefused:  # by a worker of another build
                return
            finally:
                for name, call in list(self._calls.items()):
                    if call[1] is link:
                        self._take_back(name)
                await link.close()

    def _take(self, link: Link, frame: tuple[str, object]) -> None:
        match frame:
            case ("call", {"id": str(name), "method": mcp.METHOD, "params": dict(params)}):
                self._pass_on(link, name, params)
            case ("uncall", {"id": str(name)}):
                self._take_back(name)

    def _pass_on(self, link: Link, name: str, params: Json) -> None:
        try:
            envelope = mcp.Envelope(params)
        except RpcError as error:
            link.reply(name, {"error": error_to_json(error.code, error.message)})
            return
        answered = partial(self._answered, link, name)
        self._calls[name] = envelope, link, self._peer.send_request(mcp.METHOD, params, answered)

    def _answered(self, link: Link, name: str, answer: Answer) -> None:
        self._calls.pop(name, None)
        match answer.error:
            case None:
                result: Json = {"answer": answer.result}
            case RpcError() as error:
                result = {"error": error_to_json(error.code, error.message, error.data)}
            case _:
                result = {"error": error_to_json(mcp.UNAVAILABLE, "the editor is gone")}
        if len(encode("reply", result)) > COMMAND_BYTES - 100:
            message = f"the answer of the editor's MCP server has more than {COMMAND_BYTES} bytes"
            result = {"error": error_to_json(mcp.TOO_MUCH, message)}
        link.reply(name, result)

    def _take_back(self, name: str) -> None:
        if name in self._calls:
            self._peer.notify("$/cancel_request", {"requestId": self._calls[name][2]})

    def heard(self, params: Json) -> None:
        """Take a notification about a request to one of these servers."""
        try:
            envelope = mcp.Envelope(params)
        except RpcError:
            return
        for name, (asked, link, _) in self._calls.items():
            if asked.key == envelope.key and len(encode("note", params)) < COMMAND_BYTES - 100:
                link.note(name, params)
