"""Under which names the daemon answers, and which pages may speak to it: no DNS rebinding, no
cross-site request."""

import socket
from collections.abc import Sequence

from rookery.daemon.options import Options, is_loopback

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
EVERY = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


class Hosts:
    def __init__(self, options: Options) -> None:
        self._names = {*map(str.lower, options.allowed_hosts)}
        if not options.behind_proxy:
            self._names |= {*LOOPBACK}
        host = options.host.lower()
        if host not in EVERY and not is_loopback(host):
            self._names.add(f"[{host}]" if ":" in host else host)
        self._any_address = host in EVERY
        """Bound to every address: each of them is a name, since an address cannot be rebound."""
        self._origins = {*map(str.lower, options.allowed_origins)}
        self._schemes = ("http", "https") if options.behind_proxy else (options.scheme,)

    def knows(self, host: str) -> bool:
        """A Host header, with or without its port."""
        name = _name(host.lower())
        return name in self._names or (self._any_address and is_address(name))

    def welcomes(self, origin: str, host: str) -> bool:
        """An Origin header: the page is our own, or was allowed by name."""
        origin = origin.lower()
        own = [f"{scheme}://{host.lower()}" for scheme in self._schemes]
        return origin in self._origins or origin in own

    def names(self) -> Sequence[str]:
        return sorted(self._names)


def address_for_others(options: Options) -> str:
    """The address as another device, such as a phone, has to write it."""
    if options.host not in EVERY or options.behind_proxy:
        return options.address
    name = next(iter(options.allowed_hosts), "") or _in_the_network(options.host)
    return options._replace(host=name).address


def _in_the_network(host: str) -> str:
    """This machine's own address on the way out; nothing is sent to find it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("2001:db8::1" if ":" in host else "192.0.2.1", 9))
        except OSError:  # no network
            return host
        return str(way.getsockname()[0])


def _name(host: str) -> str:
    """Without the port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def is_address(name: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
