"""Servers for what connects to an address: TLS certificates, ACP over a WebSocket, raw bytes."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from rookery.acp.bridge.connections import Connections
from rookery.wire.websocket.resuming import CONNECTION, RECEIVED
from rookery.wire.websocket.served import Served


class Certificate(NamedTuple):
    """Self-signed, for localhost, 127.0.0.1 and other addresses."""

    file: Path
    key: Path
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def certificate(folder: Path, *addresses: str) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    numbers = [ipaddress.ip_address(each) for each in ("127.0.0.1", *addresses)]
    names = [x509.DNSName("localhost"), *map(x509.IPAddress, numbers)]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, private = folder / "server.pem", folder / "server.key"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return Certificate(file, private, made.fingerprint(hashes.SHA256()).hex())


@asynccontextmanager
async def raw_server(
    speak: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """What it says is not looked at by any library. Yields its address."""

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/acp"
    finally:
        server.close()


class Endpoint:
    """`/acp` as the daemon serves it, with a library's server: every bridge of one process."""

    def __init__(self, home: str, token: str = "", *, resumes: bool = True) -> None:
        self.connections = Connections(home)
        self.sockets: list[ServerConnection] = []
        self.url = ""
        self._token = token
        self._resumes = resumes
        self._known: dict[int, Served] = {}
        self._server: Any = None
        self._port = 0

    async def __aenter__(self) -> "Endpoint":
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.deafen()
        await self.connections.close()

    async def listen(self, context: ssl.SSLContext | None = None) -> None:
        """Again on the same port, after `deafen`."""
        self._server = await serve(
            self._meet,
            "127.0.0.1",
            self._port,
            ssl=context,
            process_request=self._request,
            process_response=self._response,
            max_size=64 * 1024 * 1024,
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'wss' if context else 'ws'}://127.0.0.1:{self._port}/acp"

    async def deafen(self) -> None:
        """The network is gone: nobody listens, and what was connected is cut."""
        self._server.close(close_connections=False)
        self.cut()
        await self._server.wait_closed()

    def cut(self) -> None:
        """Without a word of goodbye."""
        for socket in self.sockets:
            socket.transport.abort()
        self.sockets.clear()

    async def left(self, connections: int) -> None:
        """Until there are only so many."""
        for _ in range(3000):  # a bridge winds down without a word
            if len(self.connections) <= connections:
                return
            await asyncio.sleep(0.01)
        raise TimeoutError

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path != "/acp":
            return connection.respond(404, "nothing here")
        if self._token and request.headers.get("Authorization") != f"Bearer {self._token}":
            return connection.respond(401, '{"message": "No."}')
        asked = request.headers.get(RECEIVED) if self._resumes else None
        found = self.connections.taken(request.headers.get(CONNECTION), asked)
        if found is None:
            return connection.respond(404, '{"message": "This connection is not known."}')
        self._known[id(connection)] = found
        return None

    def _response(self, connection: ServerConnection, _: Request, response: Response) -> None:
        if response.status_code == 101:
            for name, value in self._known[id(connection)].headers().items():
                response.headers[name] = value

    async def _meet(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        connection = self._known.pop(id(socket))
        received = socket.request.headers.get(RECEIVED, "0")
        turn = connection.attach(int(received))
        self.sockets.append(socket)
        sending = asyncio.create_task(self._send(socket, connection, turn))
        try:
            async for text in socket:
                if isinstance(text, str):
                    connection.take(turn, text)
        except ConnectionClosed:
            pass
        finally:
            code = socket.close_code or 1006
            self.connections.left(connection, turn, code)
            sending.cancel()

    async def _send(self, socket: ServerConnection, connection: Served, turn: int) -> None:
        while (text := await connection.next(turn)) is not None:
            await socket.send(text)
        await socket.close()
