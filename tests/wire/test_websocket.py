"""The WebSocket client against a library's server, and against servers that break the protocol."""

import asyncio
import json
import socket as sockets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve, unix_serve
from websockets.utils import accept_key

from rookery.wire.lines import TooLong
from rookery.wire.websocket import address, client
from rookery.wire.websocket.client import ConnectError, Target, WebSocket, connect
from rookery.wire.websocket.protocol import Client
from tests.rigs.sockets import certificate, raw_server


class Heard:
    """What a socket hands out."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.texts: asyncio.Queue[bytes | TooLong] = asyncio.Queue()
        self.closed: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        socket.begin(self.texts.put_nowait, lambda *end: self.closed.set_result(end))


async def echo(socket: ServerConnection) -> None:
    async for message in socket:
        await socket.send(message)


@asynccontextmanager
async def echoing(**options: Any) -> AsyncIterator[str]:
    async with serve(echo, "127.0.0.1", 0, max_size=None, **options) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/acp"


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 5_000_000])
async def test_messages_of_every_size_go_both_ways(size: int) -> None:
    async with echoing() as url:
        heard = Heard(await connect(Target(url)))
        heard.socket.send(b"x" * size)
        heard.socket.send("ü€😀".encode())
        assert await heard.texts.get() == b"x" * size
        assert await heard.texts.get() == "ü€😀".encode()
        heard.socket.close()
        assert (await heard.closed)[0] == 1000


async def test_the_handshake_carries_headers_and_a_ping_is_answered() -> None:
    seen: dict[str, str] = {}

    async def meet(socket: ServerConnection) -> None:
        assert socket.request is not None
        seen.update(socket.request.headers.raw_items())
        await socket.send(["in ", "three ", "parts"])
        await (await socket.ping(b"there?"))
        await socket.send("answered")
        await socket.close(4001, "enough")

    async with serve(meet, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/acp?x=1"
        heard = Heard(await connect(Target(url, {"Authorization": "Bearer t"}), {"Other": "1"}))
        assert await heard.texts.get() == b"in three parts"
        assert await heard.texts.get() == b"answered"
        assert await heard.closed == (4001, "enough")
    assert seen["Authorization"] == "Bearer t"
    assert seen["Other"] == "1"


async def test_messages_that_arrive_before_reading_begins_are_kept() -> None:
    async def meet(socket: ServerConnection) -> None:
        for n in range(100):
            await socket.send(str(n))
        await socket.close()

    async with serve(meet, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        made = await connect(Target(url))
        await asyncio.sleep(0)
        heard = Heard(made)
        assert [await heard.texts.get() for _ in range(100)] == [b"%d" % n for n in range(100)]
        assert (await heard.closed)[0] == 1000


async def test_websockets_work_over_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with unix_serve(echo, str(path)):
        heard = Heard(await connect(Target(f"unix:{path}#/api/stream")))
        heard.socket.send(b"hello")
        assert await heard.texts.get() == b"hello"
        heard.socket.abort()


# --- TLS -----------------------------------------------------------------------------------------


async def test_tls_is_trusted_by_a_ca_file_or_a_fingerprint(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    async with echoing(ssl=made.context()) as plain:
        url = plain.replace("ws://", "wss://")
        for trust in ({"ca": str(made.file)}, {"fingerprint": f"SHA256:{made.fingerprint}"}):
            heard = Heard(await connect(Target(url, {"Authorization": "Bearer t"}, **trust)))
            heard.socket.send(b"x" * 3_000_000)
            assert await heard.texts.get() == b"x" * 3_000_000
            heard.socket.close()
            assert (await heard.closed)[0] == 1000


async def test_a_reader_over_tls_that_takes_nothing_holds_us_back(tmp_path: Path) -> None:
    made, going = certificate(tmp_path), asyncio.Event()

    async def wait(socket: ServerConnection) -> None:
        await going.wait()
        async for _ in socket:
            pass

    options: Any = {"ssl": made.context(), "max_size": None, "max_queue": 1}
    async with serve(wait, "127.0.0.1", 0, **options) as server:
        url = f"wss://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        socket = await connect(Target(url, fingerprint=made.fingerprint))
        socket.begin(lambda _: None, lambda *_: None)
        while socket.buffered < 40_000_000:
            socket.send(b"x" * 1_000_000)
        draining = asyncio.create_task(socket.drain(1))
        assert not (await asyncio.wait([draining], timeout=0.1))[0]
        going.set()
        assert await draining
        assert socket.buffered == 0
        socket.abort()


async def test_nothing_comes_after_we_hung_up(tmp_path: Path) -> None:
    """Also of what came over TLS in the same piece, in records of its own."""
    made = certificate(tmp_path)

    async def meet(socket: ServerConnection) -> None:
        await socket.recv()
        for letter in (b"x", b"y"):
            socket.protocol.send_text(letter * 20_000)
        socket.transport.write(b"".join(socket.protocol.data_to_send()))
        await socket.wait_closed()

    async with serve(meet, "127.0.0.1", 0, ssl=made.context()) as server:
        url = f"wss://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        socket, texts = await connect(Target(url, fingerprint=made.fingerprint)), list[object]()
        loop, failures = asyncio.get_running_loop(), list[object]()
        loop.set_exception_handler(lambda _, context: failures.append(context))
        closed: asyncio.Future[int] = loop.create_future()

        def take(text: bytes | TooLong) -> None:
            texts.append(text)
            socket.abort()

        socket.begin(take, lambda code, _: closed.set_result(code))
        socket.send(b"go")
        assert await closed == 1006
        await asyncio.sleep(0)
        assert texts == [b"x" * 20_000]
        assert not failures


async def test_a_cancelled_handshake_leaves_nothing(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        gone.set()

    for scheme in ("ws://", "wss://"):
        came = asyncio.Event()
        gone.clear()
        async with raw_server(listen) as url:
            connecting = asyncio.create_task(connect(Target(url.replace("ws://", scheme))))
            await came.wait()
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting
            await gone.wait()
            assert asyncio.all_tasks() - {asyncio.current_task()} <= set()


async def test_an_unknown_certificate_is_reported_with_its_fingerprint(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    async with echoing(ssl=made.context()) as plain:
        url = plain.replace("ws://", "wss://")
        with pytest.raises(ConnectError, match=f"sha256:{made.fingerprint}") as caught:
            await connect(Target(url))
        assert not caught.value.passes
        with pytest.raises(ConnectError, match="not sha256:0000"):
            await connect(Target(url, fingerprint="0" * 64))
        with pytest.raises(ConnectError, match="certificate file"):
            await connect(Target(url, ca=str(tmp_path / "none.pem")))
        with pytest.raises(ConnectError, match="64 hexadecimal"):
            await connect(Target(url, fingerprint="sha256:12"))


# --- refusals ------------------------------------------------------------------------------------


def answering(*lines: str, body: str = "") -> Any:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode())
        await writer.drain()
        await reader.read()

    return raw_server(speak)


@pytest.mark.parametrize(
    ("first", "words", "passes"),
    [
        ("HTTP/1.1 401 Unauthorized", "401", False),
        ("HTTP/1.1 403 Forbidden", "403", False),
        ("HTTP/1.1 404 Not Found", "no such endpoint", False),
        ("HTTP/1.1 200 OK", "not a WebSocket endpoint", False),
        ("HTTP/1.1 503 Busy", "503", True),
        ("HTTP/1.0 503 Busy", "503", True),
        ("HTTP/1.1 302 Found\r\nLocation: https://else.where/\x1b[31m", "else.where", False),
        ("SSH-2.0-OpenSSH_9.6\r\n", "does not speak HTTP", False),
        ("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade", "not to our", False),
        ("HTTP/1.1 101 Yes\r\nConnection: Upgrade", "did not upgrade", False),
    ],
)
async def test_refusals_say_what_helps(first: str, words: str, passes: bool) -> None:
    async with answering(first) as url:
        with pytest.raises(ConnectError, match=words) as caught:
            await connect(Target(url + "?token=secret"))
    assert caught.value.passes is passes
    assert "secret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


async def test_a_refusal_that_does_not_say_where_it_ends_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "ANSWER", 0.05)

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 401 No\r\n\r\n{"message": "Token revoked."}')
        await reader.read()

    async with raw_server(speak) as url:
        with pytest.raises(ConnectError, match="Token revoked"):
            await connect(Target(url))


async def test_a_typed_refusal_is_shown() -> None:
    said = json.dumps({"error": "x", "message": "Token revoked.", "remedy": "rookery login URL"})
    async with answering("HTTP/1.1 401 No", body=said) as url:
        with pytest.raises(ConnectError, match=r"Token revoked\. rookery login URL"):
            await connect(Target(url))


async def test_a_closed_port_and_a_hang_up_are_errors_in_words() -> None:
    with sockets.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{free.getsockname()[1]}/"
        with pytest.raises(ConnectError, match="cannot be reached") as caught:
            await connect(Target(url))
    assert caught.value.passes

    async def hang_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async with raw_server(hang_up) as url:
        with pytest.raises(ConnectError, match="hung up"):
            await connect(Target(url))


async def test_a_slow_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "HANDSHAKE", 0.2)

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with raw_server(trickle) as url:
        with pytest.raises(ConnectError, match=r"in time|HTTP"):
            await connect(Target(url))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://host/acp", "not an address like"),
        ("wss://user:pw@host/acp", "use a header"),
        ("wss://host/a b", "space"),
        ("unix:relative", "absolute"),
        ("wss://host:99999/", "ort"),
        ("ws://example.com/acp", "in the clear"),
    ],
)
async def test_invalid_addresses_are_refused(url: str, words: str) -> None:
    with pytest.raises(ConnectError, match=words):
        await connect(Target(url, {"Authorization": "Bearer t"}))
    with pytest.raises(ConnectError, match="cannot be sent"):
        await connect(Target("ws://127.0.0.1:1/", {"A": "b\r\nC: d"}))


def test_authority_and_resource_are_read_from_addresses() -> None:
    assert address.parse("wss://host/acp").authority == "host"
    assert address.parse("ws://[::1]:7433").authority == "[::1]:7433"
    assert address.parse("wss://host:80/x?y").resource == "/x?y"


# --- hostile frames ------------------------------------------------------------------------------


async def shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    key = next(line for line in head.split("\r\n") if line.startswith("Sec-WebSocket-Key"))
    accept = accept_key(key.split(": ")[1])
    lines = ["HTTP/1.1 101 Yes", "Upgrade: WebSocket", "Connection: keep-alive, Upgrade"]
    writer.write("\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode())


def upgraded(after: Callable[[asyncio.StreamWriter], None]) -> Any:
    """A server that shakes hands as it should, then says what it likes."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await shake_hands(reader, writer)
        after(writer)
        await writer.drain()
        await reader.read()

    return raw_server(speak)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x81abcdx", 1002),  # masked
        (b"\xc1\x00", 1002),  # an extension's bit
        (b"\x83\x00", 1002),  # an unknown opcode
        (b"\x09\x00", 1002),  # a ping in parts
        (b"\x89\x7e\x00\x7e", 1002),  # a ping that is too long
        (b"\x80\x00", 1002),  # a continuation of nothing
        (b"\x01\x01a\x81\x01b", 1002),  # a message within a message
        (b"\x88\x01\x03", 1002),  # half a close code
        (b"\x88\x02\x03\xed", 1002),  # 1005 is never sent
        (b"\x81\x7f" + b"\xff" * 8, 1002),  # longer than there is
        (b"\xc1\x7f" + (1 << 40).to_bytes(8), 1002),  # too long, with an extension's bit
        (b"\x81\x02\xc3\x28", 1007),  # not UTF-8
        (b"\x81\x05hel", 1006),  # cut in the middle
    ],
)
async def test_broken_frames_end_the_connection(data: bytes, code: int) -> None:
    def say(writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x81\x02ok" + data)
        if code == 1006:
            writer.close()

    async with upgraded(say) as url:
        heard = Heard(await connect(Target(url)))
        assert await heard.texts.get() == b"ok"
        assert (await heard.closed)[0] == code


async def test_oversized_messages_are_skipped_and_binary_ones_ignored() -> None:
    def say(writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x81\x7f" + (3_000_000).to_bytes(8) + b"x" * 3_000_000)
        writer.write(b"\x01\x7e\x03\xe8" + b"x" * 1000 + b"\x80\x7e\x03\xe8" + b"y" * 1000)
        writer.write(b"\x82\x03\x00\x01\x02" + b"\x81\x02ok")

    async with upgraded(say) as url:
        heard = Heard(await connect(Target(url), longest=1500))
        assert await heard.texts.get() == TooLong(3_000_000)
        assert await heard.texts.get() == TooLong(2000)
        assert await heard.texts.get() == b"ok"
        heard.socket.abort()


async def test_a_silent_server_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PING_EVERY", 0.05)
    monkeypatch.setattr(client, "SILENT", 0.1)
    async with upgraded(lambda _: None) as url:
        heard = Heard(await connect(Target(url)))
        assert await heard.closed == (1006, "the server fell silent")


async def test_a_paused_reader_does_not_count_as_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RESUMABLE", (0.02, 0.1))
    pings = asyncio.Queue[bytes]()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await shake_hands(reader, writer)
        while ping := await reader.readexactly(6):
            pings.put_nowait(ping)

    async with raw_server(speak) as url:
        socket = await connect(Target(url))
        closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        socket.begin(lambda _: None, lambda _, why: closed.set_result(why), resumes=True)
        socket.pause()
        for _ in range(20):  # four times as long as it may be silent
            await pings.get()
        assert not closed.done()
        socket.resume()
        assert await closed == "the server fell silent"


async def test_a_server_that_does_not_answer_our_close_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "CLOSING", 0.05)
    async with upgraded(lambda _: None) as url:
        heard = Heard(await connect(Target(url)))
        heard.socket.close()
        assert (await heard.closed)[0] == 1000


def ready(longest: int) -> Client:
    """A client that has shaken hands."""
    made = Client(address.parse("ws://127.0.0.1/"), longest)
    lines = ["HTTP/1.1 101 Yes", "Upgrade: websocket", "Connection: Upgrade"]
    accept = f"Sec-WebSocket-Accept: {accept_key(made.key)}"
    made.receive_data("\r\n".join([*lines, accept, "", ""]).encode())
    assert made.messages() == []
    return made


@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 50))
def test_any_fragmentation_gives_the_same_messages(texts: list[bytes], step: int) -> None:
    wanted = [text.hex().encode() for text in texts]
    stream = b""
    for text in wanted:
        half = len(text) // 2
        for opcode, part in ((0x01, text[:half]), (0x89, b"p"), (0x80, text[half:])):
            size = bytes([len(part)]) if len(part) < 126 else b"\x7e" + len(part).to_bytes(2)
            stream += bytes([opcode]) + size + part
    parser, found = ready(1 << 20), list[bytes | TooLong]()
    for at in range(0, len(stream), step):
        parser.receive_data(stream[at : at + step])
        found += parser.messages()
    assert found == wanted


@given(st.binary(max_size=400), st.integers(1, 50))
def test_any_bytes_are_messages_or_end_the_connection(data: bytes, step: int) -> None:
    parser = ready(100)
    for at in range(0, len(data), step):
        parser.receive_data(data[at : at + step])
        for message in parser.messages():
            assert isinstance(message, TooLong) or len(message) <= 100
        assert len(parser.reader.buffer) <= 100 + step
    parser.receive_eof()
    assert 1000 <= parser.ending[0] < 5000
