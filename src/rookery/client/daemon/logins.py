"""The user's logins: the tokens of other machines' daemons, in a file that nobody else can read.
They are sent, and otherwise never shown, logged or passed to another program."""

import json
import os
import stat
from typing import NamedTuple
from urllib.parse import urlsplit

from rookery.client import guard
from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.home import paths
from rookery.log.lock import Lock
from rookery.wire.websocket.address import LOOPBACK, BadAddress, pinned

FILE, LOCK = "logins.json", "logins.lock"
SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
WAIT = 5.0


class BadUrl(Fixed):
    """Not the address of a daemon; the message says why, and what an address looks like."""

    kind = "usage"
    reason = "bad_address"


class Unusable(Fixed):
    """The file of logins cannot be used; the message says how to fix it."""

    reason = "bad_logins"


class Login(NamedTuple):
    url: str
    """As `normal` writes it."""
    token: str = ""
    """Empty: none is saved."""
    ca: str = ""
    """A file of certificates to trust instead of the system's."""
    fingerprint: str = ""
    """Of the one certificate that is trusted, as 64 hexadecimal digits."""
    http: bool = False
    """The user allowed that it travels in the clear."""

    @property
    def is_private(self) -> bool:
        parts = urlsplit(self.url)
        return parts.scheme == "https" or parts.hostname in LOOPBACK


def normal(url: str) -> str:
    """Normalise an address to the key of its login: scheme, host and port. Raises BadUrl."""
    example = "An address looks like https://box.example.org:7433."
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadUrl(f"{error}. {example}") from None
    scheme = SCHEMES.get(parts.scheme)
    if "code=" in parts.query:
        place = f"{parts.scheme}://{parts.netloc}"
        raise BadUrl(
            f"A login link is a secret and does not belong on a command line. Run rookery login "
            f"{place} and paste the link when you are asked."
        )
    if scheme is None or not host or not url.strip().isprintable() or " " in url.strip():
        raise BadUrl(f"{url[:100]!r} is not an address. {example}")
    if parts.username is not None or parts.password is not None:
        raise BadUrl(f"A name or a password does not belong in the address. {example}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise BadUrl(f"The address ends with the port. {example}")
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[scheme]
    return f"{scheme}://{host}" + ("" if port in (None, usual) else f":{port}")


def load(home: str, url: str) -> Login:
    """Return the login for an address, without a token if none is saved. Raises BadUrl, Unusable,
    and FromAgent: an agent must not act as its user on another machine."""
    url = normal(url)
    login = _read(home).get(url)
    if login is None:
        return Login(url)
    if guard.of_an_agent(home):
        raise guard.FromAgent(
            f"An agent cannot use your login on {url}, and this command was started by one. "
            "Run it in a terminal of your own."
        )
    return login


def save(home: str, login: Login) -> None:
    """Save a login. Raises FromAgent, Unusable, OSError."""
    guard.require_person(home, "log in on another machine")
    paths.ensure_home(home)
    _change(home, login.url, login)


def forget(home: str, url: str) -> None:
    """Remove the login for an address. Raises FromAgent, Unusable, OSError."""
    guard.require_person(home, "log out on another machine")
    _change(home, normal(url), None)


def urls(home: str) -> list[str]:
    """Return the addresses with a login, sorted. Raises Unusable."""
    return sorted(_read(home))


def _change(home: str, url: str, login: Login | None) -> None:
    lock = Lock.acquire(os.path.join(home, LOCK), WAIT)
    try:
        known = _read(home)
        known.pop(url, None)
        if login is not None:
            known[url] = login
        rows = [each._asdict() for each in known.values()]
        data = json.dumps({"logins": rows}, indent=1).encode("ascii")
        paths.write_atomic(os.path.join(home, FILE), data, 0o600, sync=True)
    finally:
        lock.release()


def _read(home: str) -> dict[str, Login]:
    path = os.path.join(home, FILE)
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return {}
    own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    if not own or status.st_mode & 0o077:
        raise Unusable(
            f"{path} has your logins on other machines, and other users could read or replace it. "
            f"To close it: chmod 600 {path}"
        )
    rows = lenient.mappings(paths.read_json(path), "logins")
    logins = [login for row in rows if (login := _login(row)) is not None]
    return {login.url: login for login in logins}


def _login(row: Json) -> Login | None:
    texts = [lenient.text(row, key) for key in ("url", "token", "ca", "fingerprint")]
    try:
        url, fingerprint = normal(texts[0]), pinned(texts[3])
    except (BadUrl, BadAddress):
        return None
    return Login(url, texts[1], texts[2], fingerprint, row.get("http") is True)
