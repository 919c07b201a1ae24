"""A WebSocket to a server: the handshake, messages both ways, keep-alive and the end.

socket = await connect(Target("wss://host/acp", {"Authorization": "Bearer …"}))
socket.begin(on_text, on_closed)
socket.send(b'{"jsonrpc": …}')
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rookery.core.json import lenient, loads
from rookery.core.json.safe_text import clean_line
from rookery.wire.lines import TooLong
from rookery.wire.websocket import address as addresses
from rookery.wire.websocket import library, streams
from rookery.wire.websocket.resuming import NORMAL

if TYPE_CHECKING:
    from rookery.wire.websocket.protocol import Client

HEAD_BYTES = 16 * 1024
BODY_BYTES = 4 * 1024
"""How much is read of a refusal's body, in which the server may say why."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

HANDSHAKE = 15.0
"""Seconds for a connection to stand, from the look-up of its name to the server's answer."""
ANSWER = 5.0
"""Seconds for the rest of an answer that has begun; a refusal need not say where it ends."""
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
        protocol = library.load()
        async with asyncio.timeout(HANDSHAKE):
            with ExitStack() as undo:
                stream, address = await _open(target)
                undo.callback(stream.abort)
                socket = WebSocket(stream, protocol(address, longest))
                await socket.shake_hands(shown(target.url), {**target.headers, **more})
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
    except ImportError as error:
        raise ConnectError(f"{where} needs the library websockets: {error}.") from None
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

    def __init__(self, stream: streams.Stream, protocol: "Client") -> None:
        self.headers: dict[str, str] = {}
        """Of the server's answer, by lower-case name."""
        self.cookies: list[str] = []
        self.closed = False
        self._stream, self._protocol = stream, protocol
        self._answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answer = bytearray()
        """The beginning of the server's answer to the handshake."""
        self._on_text: OnText | None = None
        self._on_closed: OnClosed = lambda _code, _reason: None
        self._why = ""
        self._leaving = False
        self._early: list[bytes | TooLong] = []
        self._heard_at = 0.0
        self._ping_every, self._silent = PING_EVERY, SILENT
        self._held = False
        self._timer: asyncio.TimerHandle | None = None
        stream.on_data, stream.on_end = self._take, self._ended

    async def shake_hands(self, where: str, headers: Mapping[str, str]) -> None:
        """Perform the handshake. Raises ConnectError, OSError."""
        self._protocol.request(headers)
        self._flush()
        await self._answered
        if not self._answer:
            raise ConnectionResetError("the server hung up")
        head, _, body = bytes(self._answer).partition(b"\r\n\r\n")
        self._answer.clear()
        status, self.headers, self.cookies = fields_of(head)
        if status != UPGRADED:
            raise refusal(where, status, self.headers, body)
        if self._protocol.objection:
            raise ConnectError(f"{where} {self._protocol.objection}")

    # --- messages --------------------------------------------------------------------------------

    def begin(self, on_text: OnText, on_closed: OnClosed, *, resumes: bool = False) -> None:
        """Deliver each message to `on_text`, in order, and call `on_closed` once with code and
        reason."""
        self._ping_every, self._silent = RESUMABLE if resumes else (PING_EVERY, SILENT)
        self._heard_at = asyncio.get_running_loop().time()
        has_ended = self.closed
        self._on_text, self._on_closed = on_text, on_closed
        early, self._early = self._early, []
        self._stream.resume()
        self._deliver(early)
        if has_ended:
            on_closed(*self._ending)
        elif self._protocol.is_open:
            self._after(self._ping_every, self._keep_alive)

    @property
    def buffered(self) -> int:
        return self._stream.buffered

    def send(self, text: bytes) -> None:
        if self._protocol.is_open and not self.closed:
            self._protocol.send_text(text)
            self._flush()

    async def drain(self, below: int) -> bool:
        return await self._stream.drain(below)

    def pause(self) -> None:
        self._held = True
        self._stream.pause()

    def resume(self) -> None:
        self._held = False
        self._heard_at = asyncio.get_running_loop().time()
        self._stream.resume()

    def close(self) -> None:
        """Send a close frame; if the server does not answer, drop the connection after a moment."""
        if self._leaving or self.closed:
            return
        self._leaving = True
        if self._protocol.is_open:
            self._protocol.send_close(NORMAL)
            self._flush()
        self._stream.resume()
        self._after(CLOSING, self._stream.abort)

    def abort(self) -> None:
        self._leaving = True
        self._stream.abort()

    def _take(self, data: bytes) -> None:
        if self.closed:  # a record of TLS that was read together with the one before
            return
        self._heard_at = asyncio.get_running_loop().time()
        self._protocol.receive_data(data)
        messages = self._protocol.messages()
        self._flush()
        if not self._answered.done():
            self._answer += data[: HEAD_BYTES - len(self._answer)]
            self._look_for_answer()
        if self._on_text is not None:
            self._deliver(messages)
        elif self._answered.done():
            self._early += messages
            self._stream.pause()

    def _look_for_answer(self) -> None:
        if self._protocol.is_answered:
            self._stop_timer()
            self._answered.set_result(None)
        elif self._timer is None:
            self._after(ANSWER, self._stream.abort)

    def _deliver(self, messages: list[bytes | TooLong]) -> None:
        assert self._on_text is not None
        for message in messages:
            if not self._leaving:
                self._on_text(message)
        if self._protocol.is_over and not self.closed:
            self._leaving = True
            self._after(CLOSING, self._stream.abort)
            self._stream.close()

    def _flush(self) -> None:
        for data in filter(None, self._protocol.data_to_send()):
            self._stream.write(data)

    # --- time and the end ------------------------------------------------------------------------

    def _after(self, delay: float, act: Callable[[], None]) -> None:
        """Schedule `act` in place of what was scheduled."""
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(delay, act)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _keep_alive(self) -> None:
        silent = asyncio.get_running_loop().time() - self._heard_at
        if silent > self._silent and not self._held:  # nobody listens to one that is held
            self._why = "the server fell silent"
            self._stream.abort()
        elif self._protocol.is_open:
            self._protocol.send_ping(b"")
            self._flush()
            self._after(self._ping_every, self._keep_alive)

    @property
    def _ending(self) -> tuple[int, str]:
        code, reason = self._protocol.ending
        return code, self._why or clean_line(reason)[:120]

    def _ended(self) -> None:
        self.closed = True
        self._stop_timer()
        self._protocol.receive_eof()  # a refusal may end with the connection
        self._protocol.messages()
        if not self._answered.done():
            self._answered.set_result(None)
        elif self._on_text is not None:
            self._on_closed(*self._ending)


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
