"""Byte streams over TCP, a Unix socket or TLS, with callbacks.

TLS uses `ssl` directly, not asyncio's: a worker's asyncio has none, and `ssl` is loaded only for a
`wss` address."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ssl

READ_SIZE = 256 * 1024


class Place(NamedTuple):
    """The place where a server listens."""

    host: str = ""
    port: int = 0
    path: str = ""
    """Of a Unix socket."""
    tls: "Tls | None" = None


class Tls(NamedTuple):
    ca: str = ""
    """A file of certificates to trust instead of the system's."""
    fingerprint: str = ""
    """The SHA-256 of the server's certificate, in hex: no other one will do, and no authority is
    asked."""


class UnknownCertificate(Exception):
    """The server's certificate cannot be trusted."""


class BadCertificateFile(Exception):
    """The file of trusted certificates cannot be used."""


class Stream(asyncio.Protocol):
    """A connection that calls `on_data` with what arrives, and `on_end` once, when nothing more
    will."""

    def __init__(self) -> None:
        self.on_data: Callable[[bytes], None] = lambda _: None
        self.on_end: Callable[[], None] = lambda: None
        self.ended = False
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._waiters: list[asyncio.Future[None]] = []
        self._tls: ssl.SSLObject | None = None
        self._secured: asyncio.Future[None] | None = None

    # --- for asyncio -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._tls is None:
            self.on_data(data)
            return
        self._incoming.write(data)
        self._pump()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._secured is not None and not self._secured.done():
            self._secured.set_exception(exc or ConnectionResetError("closed by the server"))
        self._end()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._wake()

    # --- for us ----------------------------------------------------------------------------------

    @property
    def buffered(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        if self.ended or self._transport is None:
            return
        if self._tls is None:
            self._transport.write(data)
            return
        self._tls.write(data)  # a memory buffer takes everything
        self._flush_tls()

    async def drain(self, below: int) -> bool:
        """Wait until less than `below` bytes are buffered (at least 1). Return False if the stream
        has ended."""
        while not self.ended and self._transport is not None:
            self._transport.set_write_buffer_limits(below - 1, below - 1)
            if not self._paused:
                break
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return not self.ended

    def pause(self) -> None:
        if self._transport is not None and not self.ended:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self.ended:
            self._transport.resume_reading()

    def close(self) -> None:
        """Close the stream after what is buffered is written."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._end()

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            self._wake()
            self.on_end()

    def _wake(self) -> None:
        waiting, self._waiters = self._waiters, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    # --- TLS -------------------------------------------------------------------------------------

    async def secure(self, context: "ssl.SSLContext", host: str) -> None:
        """Start TLS on the stream. Raises ssl.SSLError, OSError."""
        import ssl

        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._secured = asyncio.get_running_loop().create_future()
        self._pump()
        await self._secured

    def certificate(self) -> bytes:
        return (self._tls.getpeercert(binary_form=True) if self._tls else None) or b""

    def _pump(self) -> None:
        import ssl

        assert self._tls is not None
        assert self._secured is not None
        try:
            if not self._secured.done():
                self._tls.do_handshake()
                self._secured.set_result(None)
            while data := self._tls.read(READ_SIZE):
                self.on_data(data)
            self.close()  # the server says that nothing more comes
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            if not self._secured.done():
                self._secured.set_exception(error)
            elif not isinstance(error, ssl.SSLZeroReturnError):
                self.abort()
                return
            self._flush_tls()
            self.close()
            return
        self._flush_tls()

    def _flush_tls(self) -> None:
        data = self._outgoing.read()
        if data and self._transport is not None:
            self._transport.write(data)


async def connect(place: Place) -> Stream:
    """Open a stream. Raises OSError, UnknownCertificate, BadCertificateFile."""
    if place.tls is None:
        return await _open(place)
    import ssl

    context, pinned = _context(place.tls), place.tls.fingerprint
    with ExitStack() as undo:
        stream = await _open(place)
        undo.callback(stream.abort)
        try:
            await stream.secure(context, place.host)
        except ssl.SSLCertVerificationError as error:
            why = error.verify_message or str(error)
            raise UnknownCertificate(f"{why}; {await _described(place)}") from None
        except ssl.SSLError as error:
            raise ConnectionError(f"no TLS connection: {error.reason or error}") from None
        actual = fingerprint(stream.certificate())
        if pinned and actual != pinned:
            raise UnknownCertificate(f"its fingerprint is {spelled(actual)}, not {spelled(pinned)}")
        undo.pop_all()
    return stream


async def _open(place: Place) -> Stream:
    loop = asyncio.get_running_loop()
    if place.path:
        return (await loop.create_unix_connection(Stream, place.path))[1]
    return (await loop.create_connection(Stream, place.host, place.port))[1]


def _context(tls: Tls) -> "ssl.SSLContext":
    import ssl

    try:
        context = ssl.create_default_context(cafile=tls.ca or None)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificateFile(f"{tls.ca}: {error.strerror or error}") from None
    context.set_alpn_protocols(["http/1.1"])
    if tls.fingerprint:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def _described(place: Place) -> str:
    """Return the fingerprint of the rejected certificate, over a new connection on which nothing is
    sent."""
    import ssl

    try:
        stream = await _open(place)
        try:
            await stream.secure(_context(Tls(fingerprint="-")), place.host)
            return f"its fingerprint is {spelled(fingerprint(stream.certificate()))}"
        finally:
            stream.abort()
    except (OSError, ssl.SSLError):
        return "its fingerprint could not be read"


def fingerprint(certificate: bytes) -> str:
    return sha256(certificate).hexdigest()


def spelled(pinned: str) -> str:
    return f"sha256:{pinned}"
