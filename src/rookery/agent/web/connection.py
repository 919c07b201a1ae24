"""One request over HTTP: bounded in time and bytes, without cookies, credentials or a cache, and
stopped from any thread. If the environment names a proxy, as in a sandbox whose network is a list
of hosts, everything goes through it, and it resolves the names."""

import http.client
import socket
import ssl
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, override
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import rookery
from rookery.agent.web import addresses
from rookery.agent.web.addresses import Target
from rookery.agent.web.failure import Failure

SECONDS = 30.0
"""For a page, with all redirects."""
CONNECT_SECONDS = 10.0
MAX_BYTES = 5 * 1024 * 1024
"""The limit for a body, both as received and decompressed."""
MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
PIECE = 64 * 1024
HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; Rookery/{rookery.__version__})",
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Accept-Language": "en;q=0.9, *;q=0.5",
}


class Response(NamedTuple):
    url: str
    """After redirects."""
    status: int
    reason: str
    type: str
    """In lower case, without parameters."""
    charset: str
    body: bytes
    cut: bool
    """There is more of it."""


class Elsewhere(Exception):
    """The response redirects to another host, which has to be judged by itself."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class Fetch:
    """A request with its redirects. `allow`: hosts that may be private (`web.allow`)."""

    def __init__(self, allow: str = "", seconds: float = SECONDS) -> None:
        self._allow = allow
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stopped = False
        self._sockets: list[socket.socket] = []

    def stop(self) -> None:
        """End the request at once. Called from any thread."""
        with self._lock:
            self._stopped = True
            for each in self._sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def get(self, url: str) -> Response:
        """Fetch a page, following redirects within its host. Raises Failure, Elsewhere."""
        target = addresses.parse(url)
        for _ in range(MAX_REDIRECTS + 1):
            response = self.send(target)
            if isinstance(response, Response):
                return response
            there = addresses.parse(response)
            if there.host.removeprefix("www.") != target.host.removeprefix("www."):
                addresses.check_literal(there, self._allow)
                raise Elsewhere(there.url)
            target = there
        raise Failure(f"{url} redirects more than {MAX_REDIRECTS} times.")

    def send(
        self,
        target: Target,
        method: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Response | str:
        """Return the response, or the address that it redirects to. Raises Failure."""
        timer = threading.Timer(self._left(), self.stop)
        timer.daemon = True
        timer.start()
        connection: http.client.HTTPConnection | None = None
        try:
            connection = self._connected(target)
            given = {"Host": target.netloc, **HEADERS, **(headers or {})}
            connection.request(method, target.path, body, given)
            answer = connection.getresponse()
            where = answer.getheader("Location")
            if answer.status in REDIRECTS and where:
                return urljoin(target.url, where)
            return self._read(target, answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Failure(self._reason(target, error)) from None
        finally:
            timer.cancel()
            if connection is not None:
                connection.close()

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    @property
    def _over(self) -> bool:
        return self._stopped or not self._left()

    def _reason(self, target: Target, error: Exception) -> str:
        if self._over:
            return f"{target.host} did not answer within {self._seconds:.0f} seconds."
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"{target.host} has no valid certificate: {error.verify_message}."
        if str(error).startswith("Tunnel connection failed"):
            return (
                f"The proxy does not connect to {target.netloc} ({error}). In a sandbox whose "
                "network is listed, the user allows hosts: rookery config set sandbox.allow"
            )
        why = getattr(error, "strerror", "") or str(error) or type(error).__name__
        return f"{target.netloc} cannot be read: {why}."

    # --- connecting ------------------------------------------------------------------------------

    def _connected(self, target: Target) -> http.client.HTTPConnection:
        addresses.check_literal(target, self._allow)
        proxy = _proxy_of(target)
        if proxy is None:
            places = addresses.resolve(target, self._allow, min(self._left(), CONNECT_SECONDS))
            sock = self._reach(places, target.port)
        else:
            sock = self._reach([proxy.hostname or ""], proxy.port or 80)
        context = _context() if target.scheme == "https" else None
        if proxy is not None:
            given = proxy.username is not None
            _tunnel(sock, target, _basic(proxy.username or "", proxy.password or "") * given)
        connection = _Connection(target, sock, context, self._note)
        connection.connect()
        return connection

    def _reach(self, places: list[str], port: int) -> socket.socket:
        fault: OSError = OSError("there is no address")
        for place in places:
            try:
                seconds = max(0.1, min(self._left(), CONNECT_SECONDS))
                sock = socket.create_connection((place, port), timeout=seconds)
            except OSError as error:
                fault = error
                continue
            sock.settimeout(self._seconds)
            self._note(sock)
            return sock
        raise fault

    def _note(self, sock: socket.socket) -> None:
        """Note a socket, which ends with this fetch."""
        with self._lock:
            self._sockets.append(sock)
            stopped = self._stopped
        if stopped:
            raise OSError("it was stopped")

    # --- reading ---------------------------------------------------------------------------------

    def _read(self, target: Target, answer: http.client.HTTPResponse) -> Response:
        unpack = _Unpacked(answer.getheader("Content-Encoding", ""))
        size = 0
        try:
            while size < MAX_BYTES and len(unpack.data) < MAX_BYTES and not self._over:
                piece = answer.read1(PIECE)
                if not piece:
                    break
                size += len(piece)
                unpack.feed(piece, MAX_BYTES - len(unpack.data))
            cut = self._over or not answer.isclosed()
        except (OSError, http.client.HTTPException):
            if not unpack.data:
                raise
            cut = True
        if self._over and not unpack.data:
            raise OSError("it took too long")
        return Response(
            target.url,
            answer.status,
            answer.reason,
            answer.headers.get_content_type() if answer.getheader("Content-Type") else "",
            answer.headers.get_content_charset() or "",
            bytes(unpack.data),
            cut or unpack.cut,
        )


def _tunnel(sock: socket.socket, target: Target, credentials: str) -> None:
    """Have the proxy at the other end connect to the target. Raises OSError, HTTPException."""
    host = target.host.encode("idna").decode()
    place = f"[{host}]:{target.port}" if ":" in host else f"{host}:{target.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    lines += [f"Proxy-Authorization: {credentials}"] if credentials else []
    sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
    with http.client.HTTPResponse(sock, method="CONNECT") as answer:
        answer.begin()
        if answer.status != http.client.OK:
            sock.close()
            raise OSError(f"Tunnel connection failed: {answer.status} {answer.reason.strip()}")


class _Connection(http.client.HTTPConnection):
    """An HTTP connection over a socket that is connected already."""

    def __init__(
        self,
        target: Target,
        sock: socket.socket,
        context: ssl.SSLContext | None,
        note: Callable[[socket.socket], None],
    ) -> None:
        super().__init__(target.host, target.port)
        self._target, self._given, self._context, self._note = target, sock, context, note

    @override
    def connect(self) -> None:
        self.sock = self._given
        if self._context is not None:
            secured = self._context.wrap_socket(
                self.sock, server_hostname=self._target.host, do_handshake_on_connect=False
            )
            self.sock = secured
            self._note(secured)
            secured.do_handshake()


class _Unpacked:
    """A decompressed body, never more than is asked for. Raises Failure, OSError."""

    def __init__(self, encoding: str) -> None:
        self.data = bytearray()
        self.cut = False
        known = encoding.strip().lower()
        if known not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise OSError(f"it is compressed in an unknown way ({known[:40]})")
        self._inflate = zlib.decompressobj(47) if known not in ("", "identity") else None
        self._raw = known == "deflate"

    def feed(self, piece: bytes, most: int) -> None:
        if self._inflate is None:
            self.data += piece[:most]
            self.cut |= len(piece) > most
            return
        try:
            self.data += self._inflate.decompress(piece, most)
        except zlib.error as error:
            if not self._raw or self.data:
                raise OSError(f"its compression is damaged ({error})") from None
            self._inflate = zlib.decompressobj(-15)  # without the header that the standard wants
            self.data += self._inflate.decompress(piece, most)
        self._raw = False
        self.cut |= bool(self._inflate.unconsumed_tail)


def _proxy_of(target: Target) -> "_Proxy | None":
    """Return the environment's proxy for a target; None if there is none. Raises Failure."""
    known = getproxies_environment()
    address = known.get(target.scheme) or known.get("all")
    if not address or proxy_bypass(target.host):
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        raise Failure(f"The proxy of the environment is not an http:// one ({parts.scheme}).")
    name = None if parts.username is None else unquote(parts.username)
    return _Proxy(parts.hostname, parts.port, name, unquote(parts.password or ""))


class _Proxy(NamedTuple):
    hostname: str
    port: int | None
    username: str | None
    password: str


def _basic(name: str, password: str) -> str:
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


def _context() -> ssl.SSLContext:
    """Return a TLS context with the system's certificates, else certifi's."""
    context = ssl.create_default_context()
    places = ssl.get_default_verify_paths()
    if not places.cafile and not places.capath:
        import certifi

        context.load_verify_locations(certifi.where())
    return context
