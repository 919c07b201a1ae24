"""Parsing an agent's address: `wss://host/acp`, `ws://127.0.0.1:7433/acp` and `unix:/path#/acp` are
WebSockets; `https://host/acp` and `http://127.0.0.1:7433/acp` are Streamable HTTP."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"ws": 80, "wss": 443, "http": 80, "https": 443}
IN_THE_CLEAR = ("ws", "http")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEX = re.compile(r"[0-9a-f]{64}")
_VISIBLE = re.compile(r"[!-~]+")


class BadAddress(ValueError):
    """The address is invalid; the message says why, and what an address looks like."""


class Address(NamedTuple):
    scheme: str
    host: str
    port: int
    resource: str
    """What is asked for: the path and the query."""
    path: str = ""
    """Of a Unix socket."""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host or "localhost"
        usual = PORTS.get(self.scheme, 0)
        return host if self.port == usual else f"{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read along."""
        return self.scheme not in IN_THE_CLEAR or self.host in LOOPBACK


def parse(url: str) -> Address:
    """Parse an address. Raises BadAddress."""
    if not _VISIBLE.fullmatch(url):
        raise BadAddress("the address is empty or has a space or a control character in it")
    if url.startswith("unix:"):
        path, _, resource = url.removeprefix("unix:").partition("#")
        if not path.startswith("/"):
            raise BadAddress(f"{url}: the path of a Unix socket must be absolute")
        return Address("unix", "", 0, resource or "/", path)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadAddress(f"{url}: {error}") from None
    if parts.scheme not in PORTS or not host:
        raise BadAddress(f"{url} is not an address like wss://host/acp")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("a name or a password does not belong in the address: use a header")
    if parts.fragment:
        raise BadAddress(f"{url}: the address must not have a #")
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, host, port or PORTS[parts.scheme], resource)


def pinned(text: str) -> str:
    """Normalize a fingerprint as people write it (`sha256:AB:CD…`, or only the digits) to 64 hex
    digits; "" stays "". Raises BadAddress."""
    digits = text.strip().lower().removeprefix("sha256:").replace(":", "")
    if digits and not _HEX.fullmatch(digits):
        raise BadAddress("a fingerprint is sha256: and 64 hexadecimal digits")
    return digits
