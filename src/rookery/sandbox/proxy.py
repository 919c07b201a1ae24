"""The only way out of a sandbox whose network is `listed`: a proxy that connects to listed hosts,
and speaks nothing but CONNECT. It listens on a socket that is bound into the sandbox, where
`forward` makes it a port of the loopback interface.

It resolves names itself, and connects to the address it has checked: a name cannot become another
address in between."""

import asyncio
import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from rookery.sandbox.relay import PIECE, Streams, forever, joined, listening

PORTS: tuple[int, ...] = (443, 80)
"""The ports of an entry that names none."""
MAX_CONNECTIONS = 256
"""Connections at once."""
MAX_HEAD_BYTES = 8192
CONNECT_TIMEOUT = 30.0
HERE = "localhost"

type Address = IPv4Address | IPv6Address


class Entry(NamedTuple):
    name: str
    """In lower case; one that begins with a dot stands for every name that ends with it."""
    ports: tuple[int, ...] = PORTS


class Refused(Exception):
    """We may not connect there; the message says why."""


def entries(text: str) -> list[Entry]:
    """Parse names, *.names and addresses, each perhaps with a :port, by spaces or commas."""
    return [_entry(word) for word in text.replace(",", " ").split()]


def _entry(word: str) -> Entry:
    name, ports = word.lower(), PORTS
    head, colon, tail = name.rpartition(":")
    if colon and tail.isdecimal() and (":" not in head or head.endswith("]")):
        name, ports = head, (int(tail),)
    name = name.strip("[]").rstrip(".")
    return Entry(name[1:] if name.startswith("*.") else name, ports)


def allowed(known: Iterable[Entry], host: str, port: int) -> Entry | None:
    """Return the entry that allows a connection to a host; None if there is none."""
    host, address = host.lower().rstrip("."), _address(host)
    for entry in known:
        if port not in entry.ports:
            continue
        if address is not None:
            if _address(entry.name) == address:
                return entry
        elif host == entry.name or (entry.name.startswith(".") and host.endswith(entry.name)):
            return entry
    return None


def may_reach(entry: Entry, address: Address) -> bool:
    """Tell whether an entry may lead to an address. A listed name must not lead to this machine's
    own services, or to a service that hands out a cloud's credentials, unless it is an address or
    `localhost` itself."""
    if _address(entry.name) is not None or entry.name == HERE:
        return True
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    real = mapped or address
    return not (real.is_loopback or real.is_link_local or real.is_unspecified or real.is_multicast)


def _address(text: str) -> Address | None:
    try:
        return ip_address(text.strip("[]"))
    except ValueError:
        return None


class Proxy:
    """The proxy's server. To be made in a running loop. Raises OSError."""

    def __init__(self, folder: str, name: str, allow: str) -> None:
        self.path = os.path.join(folder, name)
        self._known = entries(allow)
        self._open = 0
        listener = listening(folder, name)
        # Not start_unix_server: it looks for the socket by that path, which is no longer one.
        served = asyncio.start_server(self._serve, sock=listener, limit=MAX_HEAD_BYTES)
        self._serving = asyncio.create_task(forever(served), name="sandbox proxy")

    def close(self) -> None:
        self._serving.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                far = await self._reached(reader)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await joined((reader, writer), far)
        except Refused as refused:
            body = f"{refused}\n".encode()
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n")
            writer.write(b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
            with suppress(OSError):
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            with suppress(OSError):
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        finally:
            self._open -= 1
            writer.close()

    async def _reached(self, reader: asyncio.StreamReader) -> Streams:
        head = await reader.readuntil(b"\r\n\r\n")
        if self._open > MAX_CONNECTIONS:
            raise Refused("Too many connections are open.")
        host, port = _target(head)
        entry = allowed(self._known, host, port)
        if entry is None:
            raise Refused(f"{host}:{port} is not in sandbox.allow of this Rookery.")
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        fault: OSError | None = None
        for *_, place in addresses:
            address = str(place[0]).partition("%")[0]
            if not may_reach(entry, ip_address(address)):
                raise Refused(f"{host} leads to {address}, which a listed name must not.")
            try:
                return await asyncio.open_connection(address, port, limit=PIECE)
            except OSError as error:
                fault = error
        raise fault or OSError(f"{host} has no address")


def _target(head: bytes) -> tuple[str, int]:
    """Return the host and port of a request. Raises Refused."""
    parts = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(parts) != 3 or parts[0] != "CONNECT":
        raise Refused("This proxy speaks CONNECT only: use https.")
    host, _, port = parts[1].rpartition(":")
    if not host or not host.isascii() or not port.isdecimal() or len(port) > 5:
        raise Refused("CONNECT needs host:port.")
    return host, int(port)
