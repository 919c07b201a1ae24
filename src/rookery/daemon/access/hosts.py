"""The host names that the daemon answers to, and the origins whose pages may use it: protection
against DNS rebinding and cross-site requests."""

import ipaddress
from collections.abc import Sequence

from rookery.daemon.options import EVERY, Options, is_loopback, split_host

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Hosts:
    def __init__(self, options: Options) -> None:
        self._names = {_name(name.lower()) for name in options.allowed_hosts}
        if not options.behind_proxy:
            self._names |= {*LOOPBACK}
        host = options.host.lower()
        if host not in EVERY and not is_loopback(host):
            self._names.add(_name(host))
        self._any_address = host in EVERY
        """Bound to every address: each of them is a name, since an address cannot be rebound."""
        self._origins = {*map(str.lower, options.allowed_origins)}
        self._schemes = ("http", "https") if options.behind_proxy else (options.scheme,)

    def knows(self, host: str) -> bool:
        """Tell whether a Host header, with or without a port, names this daemon."""
        name = _name(host.lower())
        return name in self._names or (self._any_address and is_address(name))

    def welcomes(self, origin: str, host: str) -> bool:
        """Tell whether an Origin header is our own page's, or was allowed explicitly."""
        origin = origin.lower()
        own = [f"{scheme}://{host.lower()}" for scheme in self._schemes]
        return origin in self._origins or origin in own

    def names(self) -> Sequence[str]:
        return sorted(self._names)


def _name(host: str) -> str:
    """Strip the port; IPv6 addresses are put into brackets."""
    name = split_host(host)[0]
    return f"[{name}]" if ":" in name else name


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
