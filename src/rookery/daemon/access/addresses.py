"""The URLs at which the daemon can be opened, from this machine and from other devices."""

import socket
from urllib.parse import urlsplit

from rookery.daemon.options import EVERY, Options, is_loopback, split_host, url

ONLY_HERE = (
    "This address works on this machine only. For a phone, start Rookery with --host 0.0.0.0, or "
    "put it behind a proxy: --behind-proxy --allowed-host NAME."
)
NO_NETWORK = (
    "This machine has no address in a network now, so no other device can reach it. Connect it, or "
    "name it with --allowed-host NAME."
)


def for_others(options: Options) -> str:
    """Return the URL for another device, such as a phone: with the first allowed host name, else
    with this machine's address in its network. Return "" if there is none."""
    scheme = "https" if options.behind_proxy else options.scheme
    for allowed in options.allowed_hosts:
        name, port = split_host(allowed)
        if not is_here(name):
            usual = 443 if options.behind_proxy else options.port
            return url(scheme, name, port or usual)
    host = _in_the_network(options.host) if options.host in EVERY else options.host
    return "" if not host or is_here(host) else url(scheme, host, options.port)


def for_links(options: Options) -> str:
    """Return the base URL to use in links."""
    return for_others(options) or options.address


def for_browser(options: Options, link: str) -> str:
    """Rewrite a link for a browser on this machine, where the link's host name may not resolve."""
    if options.behind_proxy or options.tls_cert:  # there, only the name is answered, or certified
        return link
    parts = urlsplit(link)
    return options.address + parts.path + (f"?{parts.query}" if parts.query else "")


def why_only_here(options: Options) -> str:
    """Return why no other device can open a link, or "" if they can."""
    if for_others(options):
        return ""
    return NO_NETWORK if options.host in EVERY else ONLY_HERE


def is_here(name: str) -> bool:
    """Tell whether a host name always means the local machine."""
    return is_loopback(name) or name.endswith(".localhost")


def _in_the_network(host: str) -> str:
    """Return this machine's outgoing address, found without sending anything, or "" without a
    network."""
    ways = [(socket.AF_INET, "192.0.2.1")]
    if ":" in host:  # which takes both
        ways.append((socket.AF_INET6, "2001:db8::1"))
    for family, there in ways:
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            try:
                way.connect((there, 9))
            except OSError:
                continue
            return str(way.getsockname()[0])
    return ""
