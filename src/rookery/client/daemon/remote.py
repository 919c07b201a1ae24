"""Requests to the daemon of another machine over HTTP, and its refusals as our errors."""

import base64
import http.client
import json
import os
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, override
from urllib.parse import quote, urlencode, urlsplit

from rookery.client.daemon import progress
from rookery.client.daemon.errors import (
    Denied,
    NotLoggedIn,
    OtherVersion,
    ReadOnly,
    Unreachable,
    Untrusted,
)
from rookery.client.daemon.local import Answer
from rookery.client.daemon.logins import Login
from rookery.client.guard import FromAgent
from rookery.core import refusals
from rookery.core.json import Json, lenient
from rookery.core.refusals import KINDS, Fixed, Kind, Refused, kind_of
from rookery.log.errors import LogError, NoSession
from rookery.wire.frames import WorkerRefused
from rookery.wire.websocket import streams

ANSWER_TIMEOUT = 75.0
"""Seconds to wait for an answer: a command may take 60 until its outcome is known."""
CONNECTS = 15.0
"""Seconds for a connection to stand."""
DEAD = 15
"""Seconds without a sign of life after which a connection counts as broken, where the system can
tell: a network that is gone says nothing."""
MOST_IDLE = 4


type Report = Callable[[str], object]


class Door:
    """A client of one daemon, with the login there. May be used from any thread."""

    def __init__(self, login: Login) -> None:
        """Raises Denied: the address would send the token in the clear."""
        if not login.is_private and not login.http:
            raise Denied(
                "in_the_clear",
                f"{login.url} is not encrypted: others on the network could read your token and "
                "use it. Use https://, or say that you accept this: rookery login --allow-http "
                f"{login.url}",
            )
        self.login = login
        self.url = login.url
        parts = urlsplit(login.url)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._context = _context(login) if parts.scheme == "https" else None
        self.stood = False
        """It has answered before: a connection that breaks now may come back."""
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for link in idle:
            link.close()

    def json(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        report: Report | None = None,
        **headers: str,
    ) -> Any:
        """Return the answer's JSON. `report` gets the daemon's progress messages until it arrives.
        Raises what `ask` and `refusal` do."""
        answer = self.ask(method, address(path, query), body, report, **headers)
        if answer.status >= 400:
            raise refusal(self.url, path, answer)
        try:
            return answer.json()
        except ValueError:
            raise OtherVersion(self.url, path) from None

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer:
        """Return an answer that is not JSON. Raises what `json` does."""
        answer = self.ask("GET", address(path, query))
        if answer.status >= 400:
            raise refusal(self.url, path, answer)
        return answer

    def ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        report: Report | None = None,
        **headers: str,
    ) -> Answer:
        """Send one request and return the answer, whatever its status. Raises Unreachable,
        Untrusted."""
        data = None if body is None else json.dumps(body).encode("ascii")
        given = {"Content-Type": "application/json"} if data is not None else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send(method, path, data, given, report)

    def send(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        report: Report | None = None,
    ) -> Answer:
        given = {**headers, "Accept": progress.STREAM if report else "application/json"}
        if self.login.token:
            given["Authorization"] = f"Bearer {self.login.token}"
        sent = False
        while True:
            try:
                link, used = self._link()
            except Unreachable as error:
                error.sent = sent
                raise
            try:
                return self._answer(link, method, path, data, given, report)
            except (OSError, http.client.HTTPException, ValueError) as error:
                link.close()
                # A connection that was kept may have ended meanwhile. All that is changed by a
                # request is changed once, however often it comes.
                sent = True
                if not used:
                    raise Unreachable(self.url, _why(error), sent=True) from None

    def _answer(
        self,
        link: http.client.HTTPConnection,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        report: Report | None,
    ) -> Answer:
        with suppress(BrokenPipeError):  # it answered, and closed, before it had heard it all
            link.request(method, path, data, dict(headers))
        answer = link.getresponse()
        kind = answer.headers.get_content_type()
        if report and kind == progress.STREAM:
            result = progress.answer(answer, report)
        else:
            result = Answer(answer.status, kind, answer.read())
        self.stood = True
        with self._lock:
            kept = not answer.will_close and len(self._idle) < MOST_IDLE
            if kept:
                self._idle.append(link)
        if not kept:
            link.close()
        return result

    def _link(self) -> tuple[http.client.HTTPConnection, bool]:
        """Return an open connection, and whether it was used before. Raises Unreachable,
        Untrusted."""
        with self._lock:
            if self._idle:
                return self._idle.pop(), True
        if self._context is None:
            link = http.client.HTTPConnection(self._host, self._port, timeout=CONNECTS)
        else:
            link = _Tls(self._host, self._port, self._context, self.login)
        try:
            link.connect()
        except ssl.SSLCertVerificationError as error:
            raise self._untrusted(error.verify_message or str(error)) from None
        except ssl.SSLError as error:
            raise Unreachable(self.url, f"no TLS connection ({error.reason or error})") from None
        except (OSError, ValueError) as error:
            raise Unreachable(self.url, _why(error)) from None
        _watch(link.sock)
        link.sock.settimeout(ANSWER_TIMEOUT)
        return link, False

    def _untrusted(self, why: str) -> Untrusted:
        fingerprint = shown_fingerprint(self._host, self._port)
        shown = f" Its fingerprint is {streams.spelled(fingerprint)}." if fingerprint else ""
        return Untrusted(
            f"The certificate of {self.url} is not trusted: {why}.{shown} Compare it with the one "
            f"on that machine; if it is the same: rookery login {self.url} --fingerprint "
            f"{streams.spelled(fingerprint) if fingerprint else 'sha256:…'}",
            fingerprint,
        )


class _Tls(http.client.HTTPSConnection):
    """A TLS connection that, given a fingerprint, trusts only that certificate; nothing is sent
    before it was checked."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext, login: Login) -> None:
        super().__init__(host, port, timeout=CONNECTS, context=context)
        self._login = login

    @override
    def connect(self) -> None:
        super().connect()
        pinned = self._login.fingerprint
        if not pinned:
            return
        shown = streams.fingerprint(self.sock.getpeercert(binary_form=True) or b"")
        if shown != pinned:
            self.close()
            url = self._login.url
            raise Untrusted(
                f"The certificate of {url} has changed: it is {streams.spelled(shown)}, and you "
                f"trust {streams.spelled(pinned)}. If it was renewed, compare the new one on that "
                f"machine, then: rookery login {url} --fingerprint {streams.spelled(shown)}. If "
                "not, another machine may stand between; nothing was sent.",
                shown,
            )


def _context(login: Login) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=login.ca or None)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Untrusted(f"The certificate file {login.ca} cannot be used: {why}.") from None
    if login.fingerprint:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def shown_fingerprint(host: str, port: int) -> str:
    """Return the fingerprint of the certificate that a server presents, over a connection on which
    nothing is sent; "" if it cannot be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), CONNECTS) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            return streams.fingerprint(secured.getpeercert(binary_form=True) or b"")
    except (OSError, ValueError):
        return ""


def _watch(link: socket.socket) -> None:
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("KEEPIDLE", 5), ("KEEPINTVL", 5), ("KEEPCNT", DEAD // 5 - 1)):
        if (option := getattr(socket, f"TCP_{name}", None)) is not None:
            link.setsockopt(socket.IPPROTO_TCP, option, value)
    if (option := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
        link.setsockopt(socket.IPPROTO_TCP, option, DEAD * 1000)


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not respond"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
        return "the connection was closed"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


# --- addresses and answers -----------------------------------------------------------------------


def address(path: str, query: Mapping[str, Any] | None = None) -> str:
    """Return a path with those query parameters that have a value."""
    given = {name: value for name, value in (query or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def of_session(session: str, rest: str = "") -> str:
    return f"/api/sessions/{quote(session, safe='')}{rest}"


def attached(name: str, data: bytes) -> Json:
    """Return a file as a request carries it."""
    shown = "".join(
        c if c.isprintable() and c not in "/\\" else "_" for c in os.path.basename(name)
    )
    return {"name": shown[:200] or "file", "data": base64.b64encode(data).decode("ascii")}


def refusal(url: str, path: str, answer: Answer) -> Refused:
    """Turn a refusing answer into an error: about that machine's login, version or mode, or in its
    own words."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    reason = lenient.text(body, "error")
    if not reason:
        return OtherVersion(url, f"{path.partition('?')[0]} (HTTP {answer.status})")
    match answer.status, reason:
        case 409, _ if lenient.text(body, "kind") == "preview" and lenient.text(body, "shown"):
            shown, fingerprint = lenient.text(body, "shown"), lenient.text(body, "fingerprint")
            return refusals.NotAgreed(shown, fingerprint, reason, lenient.text(body, "remedy"))
        case 401, "bad_token":
            return NotLoggedIn(url, f"Your login on {url} was revoked, or is not known there.")
        case 401, "no_token":
            return NotLoggedIn(url)
        case 403, "read_only":
            return ReadOnly(url)
        case 404 | 405, "not_found" | "wrong_method" | "unknown_operation":
            return OtherVersion(url, _word(path.partition("?")[0]))
    return refused(body, kind_of(answer.status))


def _word(path: str) -> str:
    """An operation by the name that users know; any other address unchanged."""
    return path.rpartition("/")[2] if path.startswith("/api/v1/") else path


CAUGHT: dict[str, type[Fixed]] = {
    "from_the_agent": FromAgent,
    "unknown_session": NoSession,
    "unreadable_log": LogError,
    "worker_refused": WorkerRefused,
}
"""Refusals, by their reasons, that callers catch as the same errors as on this machine."""


def refused(body: object, kind: Kind) -> Refused:
    """Return the error for a daemon's refusal. `kind`: the one to assume of a daemon that does not
    send it."""
    reason, message = lenient.text(body, "error"), lenient.text(body, "message")
    remedy = lenient.text(body, "remedy")
    remedy = "" if "/api/" in remedy else remedy  # which is for programs
    kind = next((each for each in KINDS if each == lenient.text(body, "kind")), kind)
    if (known := CAUGHT.get(reason)) is not None:
        return known(message, remedy)
    return Denied(reason, message, remedy, kind)
