"""The client's half of Streamable HTTP, against a server that behaves and misbehaves as told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest

from rookery.wire.failures import ConnectionClosed, RpcError
from rookery.wire.http.events import Events
from rookery.wire.http.exchange import BadAnswer, Body
from rookery.wire.http.link import HttpLink
from rookery.wire.jsonrpc import Incoming, Peer
from rookery.wire.lines import TooLong
from rookery.wire.websocket.client import ConnectError, Target

type Json = dict[str, Any]


class Server:
    """`/acp` of an agent. `answers` decides about a POST; what it does not know gets 202."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], Json]] = []
        self.gone: list[str] = []
        self.streams: dict[str, asyncio.StreamWriter] = {}
        self.opened: dict[str, asyncio.Event] = {}
        self.answers: Callable[[Json], tuple[str, bytes] | None] = lambda _: None
        self.greeting = {"Acp-Connection-Id": "c1"}
        self.refuses: dict[str, str] = {}
        """Streams, by session, and the status that they get."""
        self._server: asyncio.Server | None = None
        self._news = asyncio.Event()
        self._writers: list[asyncio.StreamWriter] = []

    async def until(self, seen: Callable[[], bool]) -> None:
        """Wait for requests until it is so."""
        while not seen():
            self._news.clear()
            await self._news.wait()

    async def posted(self, **fields: Any) -> tuple[dict[str, str], Json]:
        """The last message, once it has these fields."""
        await self.until(lambda: bool(self.posts) and fields.items() <= self.posts[-1][1].items())
        return self.posts[-1]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError):  # one that only looks whether we are there
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            await self._take(head, reader, writer)

    async def _take(
        self, head: list[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        pairs = (line.partition(": ") for line in head[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        method, session = head[0].split(" ")[0], headers.get("acp-session-id", "")
        if method == "GET":
            await self._stream(session, writer)
            return
        if method == "DELETE":
            self.gone.append(headers["acp-connection-id"])
            self._news.set()
            self._answer(writer, "202 Accepted")
            return
        message = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.posts.append((headers, message))
        self._news.set()
        if (said := self.answers(message)) is not None:
            self._answer(writer, *said)
        elif message.get("method") == "initialize":
            result = {"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": 1}}
            self._answer(writer, "200 OK", json.dumps(result).encode(), self.greeting)
        else:
            self._answer(writer, "202 Accepted")

    def _answer(
        self, writer: asyncio.StreamWriter, status: str, body: bytes = b"", more: Any = None
    ) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in (more or {}).items()]
        lines.append("Set-Cookie: near=7; Path=/")
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        writer.close()

    async def _stream(self, session: str, writer: asyncio.StreamWriter) -> None:
        if session in self.refuses:
            self._answer(writer, self.refuses[session], b"somebody else listens")
            return
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"
        writer.write(f"{head}\r\n\r\n".encode())
        self.streams[session] = writer
        self.opened.setdefault(session, asyncio.Event()).set()

    async def say(self, session: str, message: Json, pieces: int = 1) -> None:
        """An event, in so many chunks."""
        await self.opened.setdefault(session, asyncio.Event()).wait()
        data = b": a comment\n\nevent: message\ndata: " + json.dumps(message).encode() + b"\n\n"
        size = -(-len(data) // pieces)
        for at in range(0, len(data), size):
            piece = data[at : at + size]
            self.streams[session].write(b"%x;x=1\r\n%s\r\n" % (len(piece), piece))
            await self.streams[session].drain()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    served = Server()
    await served.start()
    yield served
    await served.stop()


@pytest.fixture
async def linked(server: Server) -> AsyncIterator[tuple[Peer, HttpLink, asyncio.Queue[Any]]]:
    """A peer that has said hello; what it is told and asked comes into the queue."""
    link = HttpLink(lambda: Target(f"http://127.0.0.1:{server.port}/acp", {"X-Key": "k"}))
    heard: asyncio.Queue[Any] = asyncio.Queue()

    def asked(request: Incoming) -> None:
        heard.put_nowait(request.params)
        request.reply({"done": True})

    peer = Peer(on_request=asked, on_notification=lambda _, params: heard.put_nowait(params))
    peer = peer.carried_by(link)
    await link.open()
    assert await peer.request("initialize", {}) == {"protocolVersion": 1}
    yield peer, link, heard
    peer.close()


async def answered(server: Server, peer: Peer, method: str, session: str, result: Any) -> object:
    """Ask, and let the server answer over its streams."""
    params = {"sessionId": session} if session else {}
    asking = asyncio.create_task(peer.request(method, params))
    number = (await server.posted(method=method))[1]["id"]
    await server.say(session, {"jsonrpc": "2.0", "id": number, "result": result})
    return await asking


async def test_a_session_is_opened_prompted_and_left(server: Server, linked: Any) -> None:
    peer, link, heard = linked
    made = await answered(server, peer, "session/new", "", {"sessionId": "s"})
    assert made == {"sessionId": "s"}
    await server.opened.setdefault("s", asyncio.Event()).wait()  # before anything is said to it
    update = {"method": "session/update", "params": {"text": "ä" * 5000}}
    await server.say("s", {"jsonrpc": "2.0", **update}, pieces=7)
    assert await heard.get() == update["params"]
    done = await answered(server, peer, "session/prompt", "s", {"stopReason": "end_turn"})
    assert done == {"stopReason": "end_turn"}
    sent = [
        (message.get("method"), headers.get("acp-session-id")) for headers, message in server.posts
    ]
    assert sent == [("initialize", None), ("session/new", None), ("session/prompt", "s")]
    later = [headers for headers, _ in server.posts[1:]]
    assert {each["acp-connection-id"] for each in later} == {"c1"}
    assert {each["x-key"] for each in later} == {"k"}
    assert {each["cookie"] for each in later} == {"near=7"}
    peer.close()
    await server.until(lambda: bool(server.gone))
    assert server.gone == ["c1"]
    assert link.why == ""


async def test_an_answer_to_the_server_names_the_session_of_its_question(
    server: Server, linked: Any
) -> None:
    peer, _, heard = linked
    await answered(server, peer, "session/new", "", {"sessionId": "s"})
    await server.say("s", {"jsonrpc": "2.0", "id": "q", "method": "ask", "params": {"x": 1}})
    assert await heard.get() == {"x": 1}
    headers, message = await server.posted(id="q")
    assert (headers["acp-session-id"], message["result"]) == ("s", {"done": True})


async def test_a_message_that_is_refused_fails_alone(server: Server, linked: Any) -> None:
    peer, link, _ = linked
    server.answers = lambda message: (
        ("500 Oops", b"") if message.get("method") == "session/list" else None
    )
    with pytest.raises(RpcError, match="500"):
        await peer.request("session/list", {})
    assert not link.broken
    assert await answered(server, peer, "session/new", "", {"sessionId": "s"})


async def test_a_session_that_another_listens_to_is_said_and_ends_nothing(
    server: Server, linked: Any
) -> None:
    peer, link, _ = linked
    server.refuses["taken"] = "409 Conflict"
    with pytest.raises(RpcError, match="somebody else listens"):
        await peer.request("session/load", {"sessionId": "taken"})
    peer.notify("session/cancel", {"sessionId": "taken"})
    assert await answered(server, peer, "session/new", "", {"sessionId": "s"})
    assert not link.broken


async def test_a_server_may_have_the_stream_of_a_session_only_once_it_is_loaded(
    server: Server, linked: Any
) -> None:
    peer, _, heard = linked
    server.refuses["s"] = "404 Not Found"
    loading = asyncio.create_task(peer.request("session/load", {"sessionId": "s"}))
    headers, message = await server.posted(method="session/load")
    assert "acp-session-id" not in headers
    server.refuses.clear()
    await server.say("", {"jsonrpc": "2.0", "id": message["id"], "result": {}})
    assert await loading == {}
    await server.say("s", {"jsonrpc": "2.0", "method": "session/update", "params": {"x": 1}})
    assert await heard.get() == {"x": 1}


@pytest.mark.parametrize("status", ["401 Unauthorized", "404 Not Found", "410 Gone"])
async def test_a_connection_that_is_not_known_any_more_has_ended(
    server: Server, linked: Any, status: str
) -> None:
    peer, link, _ = linked
    server.answers = lambda _: (status, b"")
    with pytest.raises(ConnectionClosed):
        await peer.request("session/new", {})
    assert link.broken
    assert status[:3] in link.why


@pytest.mark.parametrize("session", ["", "s"])
async def test_a_stream_that_ends_in_mid_turn_ends_the_connection(
    server: Server, linked: Any, session: str
) -> None:
    peer, link, _ = linked
    await answered(server, peer, "session/new", "", {"sessionId": "s"})
    asking = asyncio.create_task(peer.request("session/prompt", {"sessionId": "s"}))
    await server.posted(method="session/prompt")
    server.streams[session].transport.abort()
    with pytest.raises(ConnectionClosed):
        await asking
    assert link.why == "the server closed the stream"


async def test_the_stream_of_an_idle_session_is_opened_again(
    server: Server, linked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, link, _ = linked
    ended, take = asyncio.Event(), link._stream_ended
    monkeypatch.setattr(link, "_stream_ended", lambda session: (take(session), ended.set()))
    await answered(server, peer, "session/new", "", {"sessionId": "s"})
    await server.opened.setdefault("s", asyncio.Event()).wait()
    server.opened["s"].clear()
    server.streams["s"].transport.abort()
    await ended.wait()
    assert await answered(server, peer, "session/prompt", "s", {"stopReason": "end_turn"})


async def test_a_server_that_names_no_connection_is_none(server: Server) -> None:
    server.greeting = {}
    link = HttpLink(lambda: Target(f"http://127.0.0.1:{server.port}/acp"))
    peer = Peer().carried_by(link)
    await link.open()
    with pytest.raises(ConnectionClosed):
        await peer.request("initialize", {})
    assert "Acp-Connection-Id" in link.why


async def test_nobody_there_is_said_before_anything_is_sent() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(ConnectError, match="cannot be reached"):
        await HttpLink(lambda: Target(f"http://127.0.0.1:{port}/acp")).open()


async def test_a_secret_is_not_sent_in_the_clear() -> None:
    link = HttpLink(lambda: Target("http://build.example/acp", {"Authorization": "Bearer x"}))
    with pytest.raises(ConnectError, match="use https:// there"):
        await link.open()


def test_events_are_found_wherever_they_are_cut() -> None:
    data = b'data: {"a":1}\n\n:\n\ndata:b\r\ndata: c\r\n\r\nid: 3\n\ndata: last\n\n'
    for size in range(1, len(data) + 1):
        events, found = Events(100), []
        for at in range(0, len(data), size):
            found += events.feed(data[at : at + size])
        assert found == [b'{"a":1}', b"b\nc", b"last"]


def test_an_event_that_is_too_long_is_not_kept() -> None:
    events = Events(10)
    assert events.feed(b"data: " + b"x" * 50) == []
    [found] = events.feed(b"y\n\n")
    assert isinstance(found, TooLong)
    assert events.feed(b"data: 1\n" * 3 + b"\n") == [b"1\n1\n1"]
    assert isinstance(events.feed(b"data: 12345\n" * 3 + b"\n")[0], TooLong)


@pytest.mark.parametrize(
    ("fields", "data", "kept"),
    [
        ({"content-length": "3"}, b"abcdef", b"abc"),
        ({"transfer-encoding": "chunked"}, b"2\r\nab\r\n1;n=v\r\nc\r\n0\r\n\r\n", b"abc"),
        ({}, b"abc", b"abc"),
    ],
)
def test_a_body_ends_where_its_head_says(fields: Any, data: bytes, kept: bytes) -> None:
    for size in range(1, len(data) + 1):
        body, found = Body(200, fields), b""
        for at in range(0, len(data), size):
            found += b"".join(body.feed(data[at : at + size]))
        assert found == kept
        assert body.is_whole == bool(fields)


@pytest.mark.parametrize("data", [b"zz\r\n", b"-1\r\nx", b"1" * 2000])
def test_chunks_without_a_size_are_refused(data: bytes) -> None:
    with pytest.raises(BadAnswer):
        Body(200, {"transfer-encoding": "chunked"}).feed(data)
