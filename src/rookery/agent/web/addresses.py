"""Decides which addresses may be fetched. A name is resolved once, and the checked address is
connected to: it cannot become another one in between."""

import ipaddress
import re
import socket
import threading
from fnmatch import fnmatchcase
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from rookery.agent.web.failure import Failure

PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 4096
PLATFORM = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "fd00:ec2::254")))
"""Services of clouds for their own machines that look like others' addresses."""
NAT64 = ipaddress.ip_network("64:ff9b::/96")

_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+))*\.?", re.IGNORECASE)

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Target(NamedTuple):
    """A parsed URL."""

    url: str
    scheme: str
    host: str
    """Without brackets, in lower case, in ASCII."""
    port: int
    path: str
    """With the query."""

    @property
    def netloc(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"


def parse(url: str) -> Target:
    """Parse a URL. Raises Failure."""
    url = url.strip()
    if len(url) > MAX_LENGTH or _UNSAFE.search(url):
        raise Failure("The address is too long, or contains spaces or control characters.")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
        if ":" not in host:
            host = host.encode("idna").decode()
    except ValueError:
        raise Failure(f"{url} is not a valid address.") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise Failure(f"Only http:// and https:// addresses can be fetched, not {url[:80]}")
    if "@" in parts.netloc:
        raise Failure("Addresses with a user name or password are not fetched.")
    if not host:
        raise Failure(f"{url} names no host.")
    port = PORTS[scheme] if port is None else port
    if port not in PORTS.values() and port < 1024:
        raise Failure(f"Port {port} is not one of the web's.")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/%:@!$&()*+,;=~-._?[]')}" if parts.query else ""
    target = Target("", scheme, host.rstrip("."), port, path + query)
    return target._replace(url=f"{scheme}://{target.netloc}{path}{query}")


def is_allowed(target: Target, allow: str) -> bool:
    """Tell whether the user lets it be fetched wherever it leads (`web.allow`)."""
    names = (target.host, f"{target.host}:{target.port}", f"[{target.host}]:{target.port}")
    patterns = allow.lower().replace(",", " ").split()
    return any(fnmatchcase(name, word) for name in names for word in patterns)


def is_public(address: Address) -> bool:
    """Tell whether anybody can reach it: not this machine, its network, a cloud's services."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in NAT64:
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if any(each is not None and not is_public(each) for each in inner):
            return False
        if address.ipv4_mapped is not None:
            return True
    return address.is_global and not address.is_multicast and address not in PLATFORM


def check_literal(target: Target, allow: str) -> None:
    """Check an address given in numbers, however they are written. Raises Failure."""
    host = target.host
    try:
        address: Address = ipaddress.ip_address(host)
    except ValueError:
        if not _NUMERIC.fullmatch(host):
            return
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
        except OSError:
            raise Failure(f"{host} is not a valid address.") from None
    _check(target, address, allow)


def resolve(target: Target, allow: str, seconds: float) -> list[str]:
    """Return the addresses to connect to, each checked. Raises Failure."""
    resolved: list[str] = []
    fault: list[str] = []

    def look() -> None:
        try:
            for *_, place in socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM):
                resolved.append(str(place[0]).partition("%")[0])
        except (OSError, UnicodeError) as error:
            fault.append(getattr(error, "strerror", "") or str(error))

    looking = threading.Thread(target=look, daemon=True)  # it cannot be ended
    looking.start()
    looking.join(max(0.1, seconds))
    if looking.is_alive() or not resolved:
        why = fault[0] if fault else "the name server does not respond"
        raise Failure(f"{target.host} was not found: {why}.")
    for each in resolved:
        _check(target, ipaddress.ip_address(each), allow)
    return list(dict.fromkeys(resolved))


def _check(target: Target, address: Address, allow: str) -> None:
    if not is_public(address) and not is_allowed(target, allow):
        leads = target.host if target.host == str(address) else f"{target.host} ({address})"
        raise Failure(
            f"{leads} is on this machine or on a private network, which is not fetched. The user "
            f"can allow it: rookery config set web.allow {target.host}:{target.port}"
        )
