"""The address of a remote agent and the headers that authenticate us. The header values come from
the environment or from a private file, are read anew for each connection, and are never logged."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from rookery.core.agent.addresses import Remote, Source
from rookery.wire.http.link import HttpLink
from rookery.wire.jsonrpc import Peer
from rookery.wire.websocket.client import MAX_MESSAGE_BYTES, ConnectError, Target
from rookery.wire.websocket.link import AddressLink

MAX_SECRET_BYTES = 16 * 1024


def target_of(url: str, remote: Remote, environment: Mapping[str, str]) -> Target:
    """Return the address with its headers resolved. Raises ConnectError."""
    headers = {
        name: with_scheme(name, value_of(name, source, environment))
        for name, source in remote.headers.items()
    }
    ca = os.path.expanduser(remote.ca)
    return Target(url, headers, ca, remote.fingerprint)


def link_to(
    url: str, target: Callable[[], Target], longest: int = MAX_MESSAGE_BYTES
) -> AddressLink | HttpLink:
    """Return the connection to an address, not yet opened: Streamable HTTP or a WebSocket."""
    kind = HttpLink if url.startswith("http") else AddressLink
    return kind(target, longest=longest)


def with_scheme(name: str, value: str) -> str:
    """Prefix a bare token in Authorization with "Bearer"."""
    bare = name.lower() == "authorization" and " " not in value
    return f"Bearer {value}" if bare else value


def value_of(name: str, source: Source, environment: Mapping[str, str]) -> str:
    """Read the value of a header from its source. Raises ConnectError."""
    if source.env:
        if not (value := environment.get(source.env, "").strip()):
            raise ConnectError(
                f"The header {name} is the variable {source.env}, and that is not set. "
                "Export it, then try again from that terminal."
            )
        return value
    return read_private(os.path.expanduser(source.file), f"The header {name}")


def read_private(path: str, what: str) -> str:
    """Read a file that only its user may read. Raises ConnectError."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid not in (os.geteuid(), 0) or status.st_mode & 0o077:
                raise ConnectError(
                    f"{what} is in {path}, which other users could read. "
                    f"To close it: chmod 600 {path}"
                )
            text = file.read(MAX_SECRET_BYTES + 1).decode().strip()
    except OSError as error:
        raise ConnectError(
            f"{what} is in {path}, which cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise ConnectError(f"{what} is in {path}, which is not text.") from None
    if not text or len(text) > MAX_SECRET_BYTES or not text.isprintable():
        raise ConnectError(f"{what} is in {path}, which must hold one line of text.")
    return text


async def forgotten(
    url: str, remote: Remote, environment: Mapping[str, str], ids: Sequence[str], within: float
) -> None:
    """Delete sessions on the remote agent. Raises OSError, TimeoutError, RpcFailure."""
    link = link_to(url, lambda: target_of(url, remote, environment))
    peer = Peer(on_request=lambda request: request.unknown()).carried_by(link)
    try:
        async with asyncio.timeout(within):
            await link.open()
            await peer.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            for name in ids:
                await peer.request("session/delete", {"sessionId": name})
    except ConnectError as error:
        raise ConnectionError(str(error)) from None
    finally:
        peer.close()
