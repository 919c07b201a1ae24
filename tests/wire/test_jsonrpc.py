"""Peer over real descriptors: order, answers, noise, ceilings and the end."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.wire.jsonrpc import (
    Answer,
    Ceilings,
    ConnectionClosed,
    Incoming,
    Peer,
    RpcError,
    TooLarge,
)

type Heard = list[tuple[Any, ...]]


class Far:
    """The other side of a Peer: raw bytes, as an agent or an editor would write them."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.file = b""
        sock.setblocking(False)

    async def write(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def send(self, **message: Any) -> None:
        await self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    async def read(self) -> Any:
        while b"\n" not in self.file:
            data = await asyncio.get_running_loop().sock_recv(self.sock, 1 << 20)
            if not data:
                raise EOFError
            self.file += data
        line, _, self.file = self.file.partition(b"\n")
        return json.loads(line)


class Near:
    """A Peer that notes all it hears."""

    def __init__(self, sock: socket.socket, **options: Any) -> None:
        self.heard: Heard = []
        self.requests: list[Incoming] = []
        self.closed = asyncio.Event()
        self.batch = asyncio.Event()
        reading, writing = os.dup(sock.fileno()), os.dup(sock.fileno())
        sock.close()
        self.peer = Peer(
            on_request=self.take,
            on_notification=lambda *args: self.heard.append(("notification", *args)),
            on_noise=lambda *args: self.heard.append(("noise", *args)),
            on_batch_end=self.batch.set,
            on_closed=self.closed.set,
            **options,
        ).attach(reading, writing)

    def take(self, request: Incoming) -> None:
        self.requests.append(request)
        self.heard.append(("request", request.id, request.method))
        if request.method == "echo":
            request.reply(request.params)
        elif request.method == "bug":
            raise RuntimeError("a bug")


@pytest.fixture
async def pair() -> AsyncIterator[Any]:
    made: list[tuple[Near, Far]] = []

    def make(**options: Any) -> tuple[Near, Far]:
        one, other = socket.socketpair()
        made.append((Near(one, **options), Far(other)))
        return made[-1]

    yield make
    for near, far in made:
        near.peer.close()
        far.sock.close()


async def settle(near: Near, far: Far) -> None:
    """Everything that was written before has been dispatched."""
    await far.send(id="settle", method="echo")
    while (await far.read()).get("id") != "settle":
        pass


async def test_ids_are_echoed_exactly(pair: Any) -> None:
    """Integers, strings, zero and null; also when the same id is open twice."""
    near, far = pair()
    for id in (0, 7, "7", "", None):
        await far.send(id=id, method="echo", params={"a": 1})
        assert await far.read() == {"jsonrpc": "2.0", "id": id, "result": {"a": 1}}
    await far.send(id=5, method="slow")
    await far.send(id=5, method="slow")
    await far.send(id=6, method="echo")
    await far.read()
    second, first = near.requests.pop(-2), near.requests.pop(-2)
    second.reply("second")
    second.reply("again")
    second.fail(-1, "again")
    first.fail(-32000, "no", {"why": 1})
    assert await far.read() == {"jsonrpc": "2.0", "id": 5, "result": "second"}
    error = {"code": -32000, "message": "no", "data": {"why": 1}}
    assert await far.read() == {"jsonrpc": "2.0", "id": 5, "error": error}


async def test_wire_order_is_call_order(pair: Any) -> None:
    """An answer is heard between what came before and after it."""
    near, far = pair()
    near.peer.send_request("go", {}, lambda answer: near.heard.append(("answer", answer.result)))
    id = (await far.read())["id"]
    lines = [{"jsonrpc": "2.0", "method": "n", "params": n} for n in range(500)]
    lines.insert(250, {"jsonrpc": "2.0", "id": id, "result": "here"})
    await far.write("".join(json.dumps(line) + "\n" for line in lines))
    await settle(near, far)
    heard = [what[-1] for what in near.heard if what[0] != "request"]
    assert heard == [*range(250), "here", *range(250, 500)]


NOISE: list[tuple[bytes, str, int]] = [
    (b"{nope", "malformed", -32700),
    (b"hello from a print", "malformed", -32700),
    (b"\xff\xfe{}", "malformed", -32700),
    (b'{"a": NaN}', "malformed", -32700),
    (b"[" * 100_000 + b"]" * 100_000, "malformed", -32700),
    (b'{"n":' * 100_000, "malformed", -32700),
    (b"[]", "not a message", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]', "not a message", -32600),
    (b"null", "not a message", -32600),
    (b"42", "not a message", -32600),
    (b'"x"', "not a message", -32600),
    (b'{"foo":1}', "not a message", -32600),
    (b'{"id":[1],"method":"echo"}', "not a message", -32600),
    (b'{"id":true,"method":"echo"}', "not a message", -32600),
    (b'{"method":4}', "not a message", -32600),
    (b"1" * 5000, "not a message", -32600),
]


@pytest.mark.parametrize(("line", "kind", "code"), NOISE, ids=lambda value: str(value)[:30])
async def test_noise_is_survived(pair: Any, line: bytes, kind: str, code: int) -> None:
    """Answered with id null by an agent, never by a worker."""
    for answering in (True, False):
        near, far = pair(answer_noise=answering)
        await far.write(line + b"\n")
        if answering:
            answer = await far.read()
            assert (answer["id"], answer["error"]["code"]) == (None, code)
            assert isinstance(answer["error"]["message"], str)
        await far.send(id=1, method="echo", params="alive")
        assert (await far.read())["result"] == "alive"
        assert near.heard[0][:2] == ("noise", kind)


async def test_odd_values_in_messages_are_messages(pair: Any) -> None:
    near, far = pair()
    await far.write(
        b'{"method":"n","params":"\\ud800"}\n{"method":"n","params":%s}\n' % (b"9" * 5000)
    )
    await far.write(b'\r\n  \n{"method":"n","params":1}\r\n')
    await settle(near, far)
    assert [what[2] for what in near.heard if what[0] == "notification"] == [
        "\ud800",
        "9" * 5000,
        1,
    ]
    near.peer.notify("back", {"text": "\ud800\u2028😀\\ud800\udc00", "nan": float("nan")})
    said = "\ufffd\u2028😀\\ud800\ufffd"  # half a pair, which Rust's parsers refuse, is mended
    assert (await far.read())["params"] == {"text": said, "nan": None}


async def test_unknown_methods(pair: Any) -> None:
    """-32601 for a request, nothing for a notification."""
    near, far = pair()
    near.peer.on_request = None
    await far.send(method="_x/y")
    await far.send(method="$/z", params=3)
    await far.send(id="q", method="_x/y")
    answer = await far.read()
    assert (answer["id"], answer["error"]["code"]) == ("q", -32601)


async def test_last_line_without_newline_is_answered(pair: Any) -> None:
    near, far = pair()
    await far.write('{"jsonrpc":"2.0","id":9,"method":"echo","params":[1]}')
    far.sock.shutdown(socket.SHUT_WR)
    assert (await far.read())["result"] == [1]
    await near.closed.wait()


async def test_answers_of_every_shape(pair: Any) -> None:
    """Odd answers settle the request; those that nobody asked for are noise."""
    near, far = pair()
    shapes: list[tuple[dict[str, Any], Any]] = [
        ({"result": None}, None),
        ({}, None),
        ({"result": 1, "error": None}, 1),
        ({"error": {"code": 1001, "message": "odd", "data": "d"}}, (1001, "odd", "d")),
        ({"error": "only words"}, (-32603, "only words", None)),
        ({"error": {"code": "x"}, "result": 3}, (-32603, "null", None)),
    ]
    for shape, expected in shapes:
        asked = asyncio.create_task(near.peer.request("m", {}))
        await far.send(id=(await far.read())["id"], **shape)
        [ended] = await asyncio.gather(asked, return_exceptions=True)
        if isinstance(ended, RpcError):
            ended = (ended.code, ended.message, ended.data)
        assert ended == expected
    await far.send(id=999, result=1)
    await far.send(id="1", result=1)
    await far.send(id={}, error=1)
    await settle(near, far)
    assert [what[1] for what in near.heard if what[0] == "noise"].count("unknown answer") == 3


async def test_taking_a_request_back(pair: Any) -> None:
    """Both ways: who stops waiting says so, and who serves hears it."""
    near, far = pair()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(near.peer.request("slow", {}), 0.01)
    id = (await far.read())["id"]
    taken = await far.read()
    assert taken["method"] == "$/cancel_request"
    assert taken["params"] == {"requestId": id}
    await far.send(id=id, result="too late")
    await far.send(id="r", method="slow")
    await far.send(method="$/cancel_request", params={"requestId": "unknown"})
    await settle(near, far)
    near.requests[0].cancelled = lambda: near.requests[0].fail(-32800, "Cancelled")
    await far.send(method="$/cancel_request", params={"requestId": "r"})
    assert (await far.read())["error"]["code"] == -32800
    assert not [what for what in near.heard if what[0] == "noise"]


async def test_the_end_answers_all_that_is_open(pair: Any) -> None:
    near, far = pair()
    answers: list[Answer] = []
    near.peer.send_request("a", {}, answers.append)
    asked = asyncio.create_task(near.peer.request("b", {}))
    await far.read()
    await far.read()
    far.sock.close()
    with pytest.raises(ConnectionClosed):
        await asked
    await near.closed.wait()
    assert isinstance(answers[0].error, ConnectionClosed)
    with pytest.raises(ConnectionClosed):
        await near.peer.request("c", {})
    near.peer.notify("after", {})
    near.peer.close()
    near.peer.close()


async def test_ceilings(pair: Any) -> None:
    """Lines over the ceiling are skipped or refused, the connection lives."""
    near, far = pair(ceilings=Ceilings(line=1000, sent=1000, open=2))
    await far.write(b"x" * 600)
    await near.batch.wait()
    await far.write(b"x" * 600 + b"\n" + b'{"method":"n"}\n' + b"y" * 5000 + b"\n")
    await settle(near, far)
    noise = [what[1:] for what in near.heard if what[0] == "noise"]
    assert noise == [("too long", 1200), ("too long", 5000)]
    with pytest.raises(TooLarge):
        near.peer.notify("big", "x" * 1000)
    for id in (1, 2, 3):
        await far.send(id=id, method="slow")
    assert (await far.read())["id"] == 3
    with pytest.raises(TooLarge):
        near.requests[-2].reply("x" * 1000)
    near.requests[-2].fail(1, "too large")
    assert (await far.read())["error"]["message"] == "too large"


async def test_a_bug_in_a_callback_loses_no_line(pair: Any) -> None:
    near, far = pair()
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, what: reported.append(what))
    await far.write('{"id":1,"method":"bug"}\n{"id":2,"method":"echo"}\n{"id":3,"method":"bug"}')
    far.sock.shutdown(socket.SHUT_WR)
    assert (await far.read())["id"] == 2
    await near.closed.wait()
    assert len(reported) == 2


async def test_backpressure(pair: Any) -> None:
    near, far = pair()
    while near.peer.buffered < 1 << 20:
        near.peer.notify("n", "x" * 10_000)
    draining = asyncio.create_task(near.peer.drain(1))
    count = 0
    while not draining.done():
        await far.read()
        count += 1
    await draining
    assert near.peer.buffered == 0
    assert count > 0
    near.peer.pause()
    await far.send(method="held")
    assert near.heard == []
    near.peer.resume()
    await settle(near, far)
    assert near.heard[0] == ("notification", "held", None)


messages = st.lists(
    st.one_of(
        st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
        st.integers().map(lambda n: b'{"method":"n","params":%d}' % n),
        st.sampled_from([b"", b"[]", b"null", b"x" * 70, b"x" * 64, b'{"method":"e"}']),
    ),
    max_size=12,
)


@given(messages, st.lists(st.integers(0, 200), max_size=10), st.booleans())
def test_any_split_gives_the_same_messages(
    lines: list[bytes], cuts: list[int], last_newline: bool
) -> None:
    def hear(pieces: list[bytes]) -> Heard:
        heard: Heard = []
        peer = Peer(
            on_notification=lambda *args: heard.append(args),
            on_noise=lambda *args: heard.append(args),
            ceilings=Ceilings(line=64),
        )
        for piece in pieces:
            peer.data_received(piece)
        peer.eof_received()
        return heard

    data = b"\n".join(lines) + (b"\n" if last_newline else b"")
    at = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    assert hear([data]) == hear([data[a:b] for a, b in pairwise(at)])
