"""A WebSocket to a server: the handshake, messages both ways, keep-alive and the end.

socket = await connect(Target("wss://host/acp", {"Authorization": "Bearer …"}))
socket.begin(on_text, on_closed)
socket.send(b'{"jsonrpc": …}')
"""

import asyncio
import os
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import NamedTuple

from rookery.core.json import lenient, loads
from rookery.core.json.safe_text import clean_line
from rookery.wire.lines import TooLong
from rookery.wire.websocket import address as addresses
from rookery.wire.websocket import codec, streams

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
HEAD_BYTES = 16 * 1024
BODY_BYTES = 4 * 1024
"""How much is read of a refusal's body, in which the server may say why."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

HANDSHAKE = 15.0
"""Seconds for a connection to stand, from the look-up of its name to the server's answer."""
PING_EVERY = 20.0
SILENT = 45.0
"""Seconds without a byte from the server after which the connection counts as broken."""
RESUMABLE = (10.0, 15.0)
"""Both where a break costs nothing: half a minute without a network is noticed."""
CLOSING = 2.0
"""Seconds for the server to answer our close."""

UNAUTHORIZED, FORBIDDEN, UPGRADED = 401, 403, 101
GONE = (404, 410)
FINAL = frozenset({400, 401, 403, 404, 405, 410, 426, 501})
"""Answers that waiting does not change."""


class Target(NamedTuple):
    """The address to connect to, our credentials, and the certificates to trust."""

    url: str
    headers: Mapping[str, str] = MappingProxyType({})
    ca: str = ""
    fingerprint: str = ""
    in_the_clear: bool = False
    """The user allowed headers to be sent where others could read them."""


class ConnectError(Exception):
    """The connection failed; the message says why, and what to do."""

    def __init__(self, message: str, *, passes: bool = False, status: int = 0) -> None:
        super().__init__(message)
        self.passes = passes
        """Trying again later may help."""
        self.status = status
        """The HTTP status of a refusal; 0: there was none."""


class Cookies(dict[str, str]):
    """The cookies that a server set, such as a load balancer's affinity cookie."""

    def take(self, given: Iterable[str]) -> None:
        """Add cookies; each is `name=value`."""
        pairs = (cookie.partition("=") for cookie in given)
        self.update({name: value for name, _, value in pairs if name})

    def header(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the header to send; nothing if `headers` has one of the user's own."""
        if not self or "cookie" in [name.lower() for name in headers]:
            return {}
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.items())}


type OnText = Callable[[bytes | TooLong], None]
type OnClosed = Callable[[int, str], None]


async def connect(
    target: Target,
    more: Mapping[str, str] = MappingProxyType({}),
    *,
    longest: int = MAX_MESSAGE_BYTES,
) -> "WebSocket":
    """Connect to a WebSocket server. `more`: headers that are not secret. Raises ConnectError."""
    with _explained(target.url):
        async with asyncio.timeout(HANDSHAKE):
            with ExitStack() as undo:
                stream, address = await _open(target)
                undo.callback(stream.abort)
                socket = WebSocket(stream, longest)
                await socket.shake_hands(address, target.url, {**target.headers, **more})
                undo.pop_all()
            return socket


async def reach(target: Target) -> tuple[streams.Stream, addresses.Address]:
    """Open a connection without sending anything. Raises ConnectError."""
    with _explained(target.url):
        async with asyncio.timeout(HANDSHAKE):
            return await _open(target)


async def _open(target: Target) -> tuple[streams.Stream, addresses.Address]:
    place, address = _place(target)
    return await streams.connect(place), address


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn errors of connecting into a ConnectError with an explanation."""
    where = shown(url)
    try:
        yield
    except addresses.BadAddress as error:
        raise ConnectError(f"{error}.") from None
    except TimeoutError:
        raise ConnectError(f"{where} did not answer in time.", passes=True) from None
    except streams.BadCertificateFile as error:
        raise ConnectError(f"The certificate file cannot be used: {error}.") from None
    except streams.UnknownCertificate as error:
        raise ConnectError(
            f"The certificate of {where} is not trusted: {error}. If it is your server's own, "
            "trust it by its fingerprint, or by its certificate file (CA)."
        ) from None
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        message = f"{where} cannot be reached: {why}. Is the server running?"
        raise ConnectError(message, passes=True) from None


def _place(target: Target) -> tuple[streams.Place, addresses.Address]:
    address = addresses.parse(target.url)
    for name, value in target.headers.items():
        if not name or not f"{name}{value}".isprintable() or ":" in name or not name.isascii():
            raise addresses.BadAddress(f"the header {name[:40]!r} cannot be sent")
        if not address.is_private and not target.in_the_clear:
            raise addresses.BadAddress(
                f"{target.url}: {name} would be sent in the clear; use {address.scheme}s:// there"
            )
    if address.path:
        return streams.Place(path=address.path), address
    if address.scheme in addresses.IN_THE_CLEAR:
        return streams.Place(address.host, address.port), address
    tls = streams.Tls(target.ca, addresses.pinned(target.fingerprint))
    return streams.Place(address.host, address.port, tls=tls), address


def shown(url: str) -> str:
    """Return an address for messages: without its query, which may be a secret."""
    return url.partition("?")[0]


class WebSocket:
    """An open WebSocket. Messages are delivered from `begin` on: what arrives before is neither
    lost nor handed out."""

    def __init__(self, stream: streams.Stream, longest: int) -> None:
        self.headers: dict[str, str] = {}
        """Of the server's answer, by lower-case name."""
        self.cookies: list[str] = []
        self.closed = False
        self._stream = stream
        self._parser = codec.Parser(longest)
        self._head = bytearray()
        self._answer: asyncio.Future[None] | None = None
        self._on_text: OnText | None = None
        self._on_closed: OnClosed = lambda _code, _reason: None
        self._code, self._reason = codec.BROKEN, ""
        self._closing = False
        self._early: list[codec.Item] = []
        self._heard_at = 0.0
        self._ping_every, self._silent = PING_EVERY, SILENT
        self._held = False
        self._timer: asyncio.TimerHandle | None = None
        stream.on_data, stream.on_end = self._take_head, self._ended

    # --- the handshake ---------------------------------------------------------------------------

    async def shake_hands(
        self, address: addresses.Address, url: str, headers: Mapping[str, str]
    ) -> None:
        """Perform the handshake. Raises ConnectError."""
        key = b2a_base64(os.urandom(16), newline=False)
        lines = [
            f"GET {address.resource} HTTP/1.1",
            f"Host: {address.authority}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        self._answer = asyncio.get_running_loop().create_future()
        self._stream.write(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8"))
        await self._answer
        self._check(shown(url), key)

    def _take_head(self, data: bytes) -> None:
        """Read the head of the server's response; everything after it is frames."""
        assert self._answer is not None
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        refused = not self._head.startswith(b"HTTP/1.1 101")
        enough = len(self._head) >= HEAD_BYTES or (refused and self._has_body(end))
        if (end < 0 or refused) and not enough:
            return
        self._stream.on_data = self._take
        if not self._answer.done():
            self._answer.set_result(None)
        if end >= 0 and not refused:
            rest = bytes(self._head[end + 4 :])
            del self._head[end:]
            if rest:
                self._take(rest)

    def _has_body(self, end: int) -> bool:
        """Whether a refusal has arrived with its body, or as much of it as we read."""
        if end < 0:
            return False
        fields, body = fields_of(bytes(self._head[:end]))[1], len(self._head) - end - 4
        length = fields.get("content-length", "")
        return body >= min(int(length) if length.isdecimal() else 0, BODY_BYTES)

    def _check(self, where: str, key: bytes) -> None:
        from hashlib import sha1

        head, _, body = bytes(self._head).partition(b"\r\n\r\n")
        status, self.headers, self.cookies = fields_of(head)
        if status != UPGRADED:
            raise refusal(where, status, self.headers, body)
        accept = b2a_base64(sha1(key + GUID).digest(), newline=False).decode()  # noqa: S324
        upgraded = self.headers.get("upgrade", "").lower() == "websocket"
        tokens = [word.strip() for word in self.headers.get("connection", "").lower().split(",")]
        if not upgraded or "upgrade" not in tokens:
            raise ConnectError(f"{where} is not a WebSocket: it did not upgrade the connection.")
        if self.headers.get("sec-websocket-accept") != accept:
            raise ConnectError(f"{where} is not a WebSocket: its answer is not to our request.")
        if {"sec-websocket-extensions", "sec-websocket-protocol"} & set(self.headers):
            raise ConnectError(f"{where} wants what was not asked for (extension or subprotocol).")

    # --- messages --------------------------------------------------------------------------------

    def begin(self, on_text: OnText, on_closed: OnClosed, *, resumes: bool = False) -> None:
        """Deliver each message to `on_text`, in order, and call `on_closed` once with code and
        reason."""
        self._ping_every, self._silent = RESUMABLE if resumes else (PING_EVERY, SILENT)
        self._on_text, self._on_closed = on_text, on_closed
        self._heard_at = asyncio.get_running_loop().time()
        early, self._early = self._early, []
        self._stream.resume()
        self._take_items(early)
        if self.closed:
            on_closed(self._code, self._reason)
        else:
            self._plan()

    @property
    def buffered(self) -> int:
        return self._stream.buffered

    def send(self, text: bytes) -> None:
        if not self.closed and not self._closing:
            self._stream.write(codec.frame(codec.TEXT, text))

    async def drain(self, below: int) -> bool:
        return await self._stream.drain(below)

    def pause(self) -> None:
        self._held = True
        self._stream.pause()

    def resume(self) -> None:
        self._held = False
        self._heard_at = asyncio.get_running_loop().time()
        self._stream.resume()

    def close(self, code: int = codec.NORMAL, reason: str = "") -> None:
        """Send a close frame; if the server does not answer, drop the connection after a moment."""
        if self._closing or self.closed:
            return
        self._closing, self._code, self._reason = True, code, reason
        self._stream.write(codec.frame(codec.CLOSE, codec.close_payload(code, reason)))
        self._stream.resume()
        asyncio.get_running_loop().call_later(CLOSING, self._stream.abort)

    def abort(self) -> None:
        self._stream.abort()

    def _take(self, data: bytes) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        items = self._parser.feed(data)
        if self._on_text is None:
            self._early += items
            self._stream.pause()
        else:
            self._take_items(items)

    def _take_items(self, items: list[codec.Item]) -> None:
        for item in items:
            match item:
                case codec.Text(text) if self._on_text is not None and not self._closing:
                    self._on_text(text)
                case codec.Ping(payload):
                    if not self._closing:
                        self._stream.write(codec.frame(codec.PONG, payload))
                case codec.Close(code, reason):
                    self._take_close(code, reason)
                    return
        if self._parser.fault is not None:
            self._fail(self._parser.fault)

    def _take_close(self, code: int, reason: str) -> None:
        if not self._closing:
            self._code, self._reason = code, clean_line(reason)[:120]
            echoed = b"" if code == codec.NO_CODE else codec.close_payload(code)
            self._stream.write(codec.frame(codec.CLOSE, echoed))
        self._closing = True
        self._stream.close()

    def _fail(self, error: codec.ProtocolError) -> None:
        self._stream.on_data = lambda _: None
        payload = codec.close_payload(error.code, str(error))
        self._stream.write(codec.frame(codec.CLOSE, payload))
        self._code, self._reason, self._closing = error.code, str(error), True
        self._stream.close()
        asyncio.get_running_loop().call_later(CLOSING, self._stream.abort)

    def _plan(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._ping_every, self._keep_alive)

    def _keep_alive(self) -> None:
        silent = asyncio.get_running_loop().time() - self._heard_at
        if silent > self._silent and not self._held:  # nobody listens to one that is held
            self._reason = "the server fell silent"
            self._stream.abort()
        elif not self._closing:
            self._stream.write(codec.frame(codec.PING, b""))
            self._plan()

    def _ended(self) -> None:
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._answer is not None and not self._answer.done():
            if self._head:
                self._answer.set_result(None)  # a refusal that ends with the connection
            else:
                self._answer.set_exception(ConnectionResetError("the server hung up"))
        elif self._on_text is not None:
            self._on_closed(self._code, self._reason)


def fields_of(head: bytes) -> tuple[int, dict[str, str], list[str]]:
    """Parse the head of an HTTP response: status, headers by lower-case name, cookies. The status
    is 0 if it is not one."""
    first, *lines = head.decode("latin-1").split("\r\n")
    tokens = first.split(" ", 2)
    known = len(tokens) > 1 and tokens[0].startswith("HTTP/1.") and tokens[1].isdecimal()
    fields, cookies = dict[str, str](), list[str]()
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "set-cookie":
            cookies.append(value.partition(";")[0])
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return int(tokens[1]) if known else 0, fields, cookies


def refusal(where: str, status: int, fields: dict[str, str], body: bytes) -> ConnectError:
    detail = ""
    try:
        payload = loads(body[:BODY_BYTES])
    except (ValueError, RecursionError):
        payload = None
    if isinstance(payload, dict):
        parts = (clean_line(lenient.text(payload, key)[:300]) for key in ("message", "remedy"))
        detail = " ".join(part for part in parts if part)
    if not status:
        sentence = f"{where} does not speak HTTP; is the address right?"
    elif status == UNAUTHORIZED:
        sentence = f"{where} wants a valid token (HTTP 401)."
    elif status == FORBIDDEN:
        sentence = f"{where} refuses this token, or this machine (HTTP 403)."
    elif status in GONE:
        sentence = f"{where} has no such endpoint (HTTP {status}); check the path of the address."
    elif 300 <= status < 400:
        place = clean_line(fields.get("location", "another address")[:200])
        sentence = f"{where} redirects to {place}, and redirects are not followed."
    else:
        kind = "an ACP" if where.startswith("http") else "a WebSocket"
        sentence = f"{where} is not {kind} endpoint (HTTP {status})."
    passes = status not in FINAL and status >= 500
    return ConnectError(f"{sentence} {detail}".strip(), passes=passes, status=status)
