"""The options that a daemon runs with: parsed from the command line and checked before anything is
opened."""

import ipaddress
import os
import pwd
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.daemon import passphrase

HOST, PORT = "127.0.0.1", 7433
EVERY = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
PORTS = {"http": 80, "https": 443}
TOKEN, PASSPHRASE, NONE = "token", "passphrase", "none"
AUTHS = (TOKEN, PASSPHRASE, NONE)
HEADER = re.compile("[A-Za-z][A-Za-z0-9-]{0,60}")
TAKEN = frozenset(
    {"authorization", "connection", "content-length", "content-type", "cookie", "host", "origin"}
    | {"transfer-encoding", "upgrade", "accept", "user-agent", "sec-websocket-protocol"}
)
"""Headers that mean something else."""


class Options(NamedTuple):
    host: str = HOST
    port: int = PORT
    auth: str = TOKEN
    passphrase: str = ""
    """Its hash; the passphrase itself is kept nowhere."""
    read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    behind_proxy: bool = False
    tls_cert: str = ""
    tls_key: str = ""
    proxy_user: str = ""
    """Whom the proxy runs as: a name, or a number."""
    hsts: bool = False
    """Browsers are told to use https alone for this host name."""
    trusted_user_header: str = ""
    """The header in which the proxy names the person."""

    @property
    def proxy_uid(self) -> int | None:
        """The uid of the proxy's user, or None without one. Raises KeyError."""
        proxy = self.proxy_user
        return int(proxy) if proxy.isdecimal() else pwd.getpwnam(proxy).pw_uid if proxy else None

    @property
    def users(self) -> frozenset[int]:
        """The uids that may connect without a login. Raises KeyError."""
        number = self.proxy_uid
        return frozenset({os.geteuid()} if number is None else {os.geteuid(), number})

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    @property
    def address(self) -> str:
        """The daemon's URL for a browser on this machine."""
        return url(self.scheme, HOST if self.host in EVERY else self.host, self.port)

    def json(self) -> Json:
        return self._asdict()


def from_json(given: Json) -> Options:
    """Build options from a record; unknown fields are ignored, missing ones get their defaults."""
    known: dict[str, Any] = {key: given[key] for key in Options._fields if key in given}
    for field in ("allowed_hosts", "allowed_origins"):
        known[field] = tuple(known.get(field, ()))
    return Options(**known)


def chosen(given: Json, secret: str = "") -> Options:
    """Build and check options from those given on the command line and the passphrase as typed.
    Raises Refused."""
    if secret:
        given = {"auth": PASSPHRASE, **given, "passphrase": passphrase.hashed(_usable(secret))}
    options = from_json(given)
    check(options)
    return options


def _usable(secret: str) -> str:
    if len(secret) < passphrase.SHORTEST:
        raise Refused(
            "short_passphrase",
            f"A passphrase needs at least {passphrase.SHORTEST} characters; this one has "
            f"{len(secret)}.",
        )
    return secret


def check(options: Options) -> None:
    """Check that the options fit together. Raises Refused."""
    if options.auth not in AUTHS:
        raise Refused("unknown_auth", f"--auth can be: {', '.join(AUTHS)}.")
    if not 0 <= options.port <= 65535:
        raise Refused("bad_port", f"{options.port} is not a port: use 1 to 65535.")
    if options.auth == PASSPHRASE and not options.passphrase:
        raise Refused(
            "no_passphrase",
            "--auth passphrase needs one: pass --passphrase to be asked for it, or set "
            "ROOKERY_PASSPHRASE.",
        )
    if options.auth != TOKEN and not is_loopback(options.host) and not options.behind_proxy:
        raise Refused(
            "exposed",
            f"--auth {options.auth} on {options.host} would let others on the network in. Use "
            "--auth token, or put a proxy in front that checks who comes and pass --behind-proxy.",
        )
    if options.behind_proxy and not options.allowed_hosts:
        raise Refused(
            "no_allowed_host",
            "--behind-proxy needs --allowed-host NAME: the name under which the proxy is reached.",
        )
    _check_proxy_user(options)
    for name in options.allowed_hosts:
        if not name or "/" in name or not split_host(name)[0]:
            raise Refused(
                "bad_host", f"{name!r} is not a host's name. One looks like box.example.org."
            )
    _check_origins(options.allowed_origins)
    _check_tls(options)
    if options.hsts and not options.tls_cert and not options.behind_proxy:
        raise Refused(
            "no_https",
            "--hsts makes browsers use https alone, which this daemon would not speak: add "
            "--tls-cert and --tls-key, or --behind-proxy for a proxy that does TLS.",
        )


def _check_proxy_user(options: Options) -> None:
    """Check the proxy's options; without a login, access depends on the user at the other end of a
    connection."""
    if options.proxy_user and not options.behind_proxy:
        raise Refused("no_proxy", "--proxy-user belongs to --behind-proxy.")
    if options.trusted_user_header:
        _check_header(options)
    if options.auth != NONE or not options.behind_proxy:
        return
    if not is_loopback(options.host):
        raise Refused(
            "unknown_peers",
            f"--auth none on {options.host}: of a connection from another machine, the user cannot "
            "be known, so anybody could come in past the proxy. Use --auth token, or let the proxy "
            "run on this machine and leave --host out.",
        )
    if not options.proxy_user:
        raise Refused(
            "no_proxy_user",
            "--auth none with --behind-proxy lets in every request of the proxy, which has to be "
            "distinguished from other users of this machine. Add the user that it runs as (caddy, "
            "www-data, …), in a service at the end of its ExecStart line: --proxy-user USER",
        )
    _check_user(options)


def _check_user(options: Options) -> None:
    try:
        _ = options.users
    except KeyError:
        raise Refused(
            "unknown_user", f"--proxy-user: this machine has no user {options.proxy_user!r}."
        ) from None


def _check_header(options: Options) -> None:
    """Check --trusted-user-header: the proxy must be identifiable, since anybody could send the
    header."""
    header = options.trusted_user_header
    if not HEADER.fullmatch(header) or header.lower() in TAKEN:
        raise Refused(
            "bad_header", f"{header!r} cannot name a user. A header like X-Remote-User can."
        )
    if not options.behind_proxy or not options.proxy_user:
        raise Refused(
            "no_proxy_user",
            "--trusted-user-header is believed only from your proxy. Say whom it runs as (caddy, "
            "www-data, …): --behind-proxy --proxy-user USER",
        )
    _check_user(options)


def _check_origins(origins: Sequence[str]) -> None:
    for origin in origins:
        scheme, _, rest = origin.partition("://")
        if scheme not in ("http", "https") or not rest or "/" in rest:
            raise Refused(
                "bad_origin", f"{origin!r} is not an origin. One looks like https://example.org."
            )


def _check_tls(options: Options) -> None:
    if bool(options.tls_cert) != bool(options.tls_key):
        raise Refused("half_tls", "--tls-cert and --tls-key belong together.")
    for path in (options.tls_cert, options.tls_key):
        if path and not os.access(path, os.R_OK):
            raise Refused("no_file", f"{path} cannot be read.")


def url(scheme: str, host: str, port: int) -> str:
    """Return a URL without a path: IPv6 in brackets, and no port where it is the scheme's
    default."""
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{name}" + (f":{port}" if port != PORTS[scheme] else "")


def split_host(name: str) -> tuple[str, int]:
    """Split a host as users and browsers write it into its name, IPv6 without brackets, and its
    port or 0."""
    if name.count(":") > 1 and not name.startswith("["):
        return name, 0
    host, _, port = name.rpartition(":") if not name.endswith("]") else (name, "", "")
    host, port = (host, port) if host else (port, "")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    return host, int(port) if port.isdecimal() else 0


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
