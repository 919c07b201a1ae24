"""ASGI middleware that checks every request before anything reads it: the host it is addressed to,
the page that sent it, its sender, and whether that sender may write.

Tests try a table of all routes against it. No route can forget the check, since no route takes part
in it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import nullcontext, suppress
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse

from rookery.client.daemon.origin import SENDER
from rookery.core.json.senders import sender as sender_of
from rookery.daemon.access import roles
from rookery.daemon.access.addresses import is_here
from rookery.daemon.access.devices import Device, Devices
from rookery.daemon.access.hosts import Hosts
from rookery.daemon.access.peers import Descent, Peer
from rookery.daemon.access.persons import Persons
from rookery.daemon.access.recognition import (
    Recognition,
    Sender,
    changed,
    earlier_token,
    forbidden,
)
from rookery.daemon.errors import Problem, answer
from rookery.daemon.metrics.measures import RESPONSE_DELAY, RESPONSES
from rookery.daemon.options import NONE, Options, split_host
from rookery.daemon.pieces.document import shell

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type App = Callable[[Scope, Receive, Send], Awaitable[None]]

PEER = "rookery.peer"
DEVICE = "rookery.device"
TAB = "rookery.tab"
PERSON = "rookery.person"
"""Whom the proxy names; "": nobody."""
EARLIER = "rookery.earlier"
"""The request brought a cookie of an earlier build."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
LOGIN = "/login"
LINK = "/api/devices/link"
"""Without it, nobody could log in to a daemon that only shows: its owner may have one."""
HEALTH = "/healthz"
"""Who asks for it may call the daemon by any name, as any user: it tells nothing."""
ASSETS = "/assets/"
PUBLIC = frozenset(
    {
        LOGIN,
        HEALTH,
        "/style.css",
        "/favicon.svg",
        "/apple-touch-icon.png",
        "/icon-512.png",
        "/manifest.webmanifest",
        "/offline",
        "/sw.js",
    }
)
"""Paths that can be read without logging in, besides the assets; they disclose nothing."""
ACP = "/acp"
"""A WebSocket that writes: all others only tell."""
EVENTS = "/api/events"
"""An answer that never ends."""

LOGGED_OUT = 1008
"""The close code of a WebSocket whose device was revoked: policy."""

BODY_BYTES = 2 * 1024 * 1024
UPLOAD_BYTES = 30 * 1024 * 1024
"""20 MiB of attachments, as text."""
UPLOADS = ("/api/sessions", "/api/v1/sessions")
BODY_SECONDS = 60.0
DRAINED, DRAIN_SECONDS = 64 * 1024, 1.0
"""Bytes of a refused request that are read, and for how long."""

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"img-src 'self' data: blob:; "
        b"connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
NOT_KEPT = (b"cache-control", b"no-store")
HSTS = (b"strict-transport-security", b"max-age=31536000")


class Gate:
    def __init__(self, app: App, options: Options, devices: Devices, control: str) -> None:
        self._app = app
        self._options = options
        self._devices = devices
        self._control = control
        """The name of the socket that no confined agent reaches; "": there is none here."""
        self._hosts = Hosts(options)
        self._users = options.users if options.auth == NONE else None
        """Who may connect without a login; None: whoever logs in."""
        self._recognition = Recognition(devices, needed=options.auth != NONE)
        self._persons = Persons(options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return None
        headers = _read(scope["headers"])
        send = _Answer(send, scope["type"])
        if self._options.hsts and _is_pinned(headers.get("host", "")):
            send.own.append(HSTS)
        scope["headers"] = [each for each in scope["headers"] if each[0] != b"cookie"]
        try:
            scope[PERSON] = await self._persons.named(scope, scope[PEER])
            self._check_place(scope, headers)
            await self._check_user(scope)
            await self._end_earlier(scope, headers)
            sender = self._recognise(scope, headers)
            if sender.tab and sender.proved:
                send.own.append((b"rookery-tab", sender.tab.token.encode()))
            await self._check_write(scope)
            self._check_role(scope)
            limit = UPLOAD_BYTES if scope["path"].startswith(UPLOADS) else BODY_BYTES
            _check_size(headers, limit)
            if scope["type"] == "http":
                receive = _bounded(receive, limit)
            if sender.device and (scope["type"] == "websocket" or _only_reads(scope)):
                return await self._let_stay(sender, scope, receive, send)
        except Problem as problem:
            if problem.status == 401 and _goes_there(scope, headers):
                page = HTMLResponse(shell(self._recognition.challenge()))
                return await page(scope, receive, send)
            return await _refuse(problem, scope, receive, send)
        return await self._app(scope, receive, send)

    async def _let_stay(
        self, sender: Sender, scope: Scope, receive: Receive, send: "_Answer"
    ) -> None:
        """Run the application only while the device stays logged in. Endless responses also need
        their tab, which a WebSocket keeps open; a page or a file may take its time on a slow
        network."""
        device, tab, talks = sender.device, sender.tab, scope["type"] == "websocket"
        assert device is not None
        work = self._app(scope, receive, send)
        needed = tab.token if tab and (talks or scope["path"] == EVENTS) else ""
        with self._devices.tabs.stream(tab) if tab and talks else nullcontext():
            stayed = await self._devices.visits.run(device.id, work, needed)
        if talks and not stayed:
            with suppress(OSError, RuntimeError):  # it is closed already
                await send({"type": "websocket.close", "code": LOGGED_OUT, "reason": "logged out"})
        elif not stayed and not send.begun:
            raise changed()

    async def _check_user(self, scope: Scope) -> None:
        """Keep out other users of this machine where no login is required."""
        peer: Peer = scope[PEER]
        if peer.local or self._users is None or scope["path"] == HEALTH:
            return
        if await asyncio.to_thread(peer.user) not in self._users:
            raise Problem(
                403,
                "not_yours",
                "This Rookery belongs to another user, and without a login it takes only its own.",
                "Start it with --auth token. If you are its proxy: --proxy-user USER",
            )

    def _check_place(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Check the Host and Origin headers; on the daemon's own sockets, which have no host name,
        check the peer's user and refuse pages."""
        peer: Peer = scope[PEER]
        if peer.local:
            if not peer.own:
                raise Problem(403, "not_yours", "This Rookery belongs to another user.")
            if "origin" in headers:
                raise Problem(403, "foreign_origin", "This socket is not for pages.")
            return
        host = headers.get("host", "")
        if not self._hosts.knows(host) and scope["path"] != HEALTH:
            raise Problem(
                421,
                "foreign_host",
                f"Rookery does not accept the host name {host[:100]!r}.",
                "Start it with --allowed-host NAME to allow a name.",
            )
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "")
        if origin is not None and not self._hosts.welcomes(origin, host):
            raise Problem(
                403,
                "foreign_origin",
                f"The page at {origin[:100]} may not use this Rookery.",
                "Start it with --allowed-origin ORIGIN to allow a page.",
            )
        if origin is None and site == "cross-site" and not _only_reads(scope):
            raise Problem(403, "foreign_origin", "Another site's page may not use this Rookery.")

    async def _end_earlier(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Revoke a token that arrived in a cookie: browsers have sent it to every port of this
        host."""
        token = earlier_token(headers)
        scope[EARLIER] = bool(token)
        if token and (device := self._devices.holder(token)):
            await asyncio.to_thread(self._devices.revoke, device.id)
            self._devices.end_visits(device.id)

    def _recognise(self, scope: Scope, headers: Mapping[str, str]) -> Sender:
        """Identify the sender; scope[DEVICE] is None for the owner of the home."""
        peer: Peer = scope[PEER]
        public = peer.local or is_public(scope["path"])
        sender = Sender() if public else self._recognition.sender(headers)
        if scope["type"] == "websocket" and sender.tab and scope["path"] == ACP:
            raise Problem(403, "not_for_pages", "A page cannot use this.", "Log in as a program.")
        scope[DEVICE], scope[TAB] = sender.device, sender.tab
        if sender.device:
            self._devices.note_use(sender.device, peer.address)
        return sender

    async def _check_write(self, scope: Scope) -> None:
        if _only_reads(scope):
            return
        peer: Peer = scope[PEER]
        logs_in = scope["path"] == LOGIN or (peer.local and scope["path"] == LINK)
        if self._options.read_only and not logs_in:
            raise Problem(
                403, "read_only", "This Rookery is read-only.", "Start it without --read-only."
            )
        descent, bound = await asyncio.to_thread(peer.descent), scope[TAB] is not None
        if descent is Descent.AGENTS or (descent is Descent.HIDDEN and not bound):
            raise Problem(
                403,
                "from_the_agent",
                "An agent cannot change anything through the daemon; this came from an agent's "
                "process, or from one that is gone.",
                "Do it in a terminal of your own.",
            )
        foreign = descent is Descent.FOREIGN and not bound and scope["path"] != LOGIN
        if foreign and not await asyncio.to_thread(self._is_proxy, peer):
            raise Problem(
                403,
                "needs_key",
                "This comes from another user's process on this machine, so it cannot be known "
                "whether an agent sends it: a token is not enough for a change.",
                "Use a browser that is logged in, or come from another machine.",
            )
        if peer.local and self._control and not peer.controls:
            raise Problem(
                403,
                "wrong_socket",
                "The daemon takes changes only on its control socket.",
                "Update this client, or use it outside of containers and network namespaces.",
            )

    def _check_role(self, scope: Scope) -> None:
        """Check the device's current role, which may have changed a moment ago."""
        known: Device | None = scope[DEVICE]
        if known is not None:
            scope[DEVICE] = known = self._recognition.current(known.id)
            method = scope.get("method", roles.WEBSOCKET)
            if not roles.may_ask(known.role, method, scope["path"]):
                raise forbidden(known)
        about = (known.id, known.name, known.person) if known else ("", "", "")
        SENDER.set(sender_of(*about[:2], scope[PERSON] or about[2]))

    def _is_proxy(self, peer: Peer) -> bool:
        """Tell whether the peer is the declared proxy; the proxy's user may have been left
        unspecified."""
        options = self._options
        return options.behind_proxy and (not options.proxy_user or peer.user() in options.users)


def is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(ASSETS)


def _is_pinned(host: str) -> bool:
    """Tell whether to pin the host to https. Never localhost: a browser would apply that to every
    other server there, too."""
    return not is_here(split_host(host.lower())[0])


def _only_reads(scope: Scope) -> bool:
    if scope["type"] == "websocket":
        return bool(scope["path"] != ACP)
    return scope["method"] in READING


def _goes_there(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Tell whether this is a browser navigation; the page authenticates itself once it is
    loaded."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and "authorization" not in headers
        and "text/html" in headers.get("accept", "")
        and headers.get("sec-fetch-mode", "navigate") == "navigate"
    )


def _read(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by name; duplicates are joined, so that neither can hide behind the
    other."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        joint = "; " if key == "cookie" else ", "
        headers[key] = f"{headers[key]}{joint}{text}" if key in headers else text
    return headers


def _check_size(headers: Mapping[str, str], limit: int) -> None:
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > limit:
        raise too_large(limit)


def too_large(limit: int) -> Problem:
    return Problem(
        413, "too_large", f"A request may have at most {limit // 1024 // 1024} MiB.", "Send less."
    )


def _bounded(receive: Receive, limit: int) -> Receive:
    """Limit the size of a body, whatever its header claims, and the time it may take."""
    left, until = limit, time.monotonic() + BODY_SECONDS
    whole = False

    async def bounded() -> Message:
        nonlocal left, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                message = await receive()
        except TimeoutError:
            raise Problem(
                408, "too_slow", f"The request took longer than {BODY_SECONDS:g} s.", "Try again."
            ) from None
        left -= len(message.get("body", b""))
        if left < 0:
            raise too_large(limit)
        whole = not message.get("more_body", False)
        return message

    return bounded


class _Answer:
    """A `send` that adds the headers common to all responses, and `own` ones, which may be added
    until the response starts."""

    def __init__(self, send: Send, kind: str) -> None:
        self._send, self._began = send, time.monotonic()
        self._starts = f"{'' if kind == 'http' else 'websocket.'}http.response.start"
        self.own: list[tuple[bytes, bytes]] = []
        self.begun = False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        if message["type"] == self._starts:
            RESPONSES.add(str(message["status"]))
            RESPONSE_DELAY.observe(time.monotonic() - self._began)
            headers = message.get("headers", ())
            given = {name for name, _ in headers}
            more = [each for each in (*HEADERS, NOT_KEPT) if each[0] not in given]
            message["headers"] = [*headers, *more, *self.own]
        await self._send(message)


async def _drain(receive: Receive) -> None:
    left = DRAINED
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    response = answer(HTTPConnection(scope), problem)
    if scope["type"] == "http":
        # A small body is read first: a connection that is closed with something unread in it is
        # reset, and the answer lost. What is left would be taken for the next request.
        await _drain(receive)
        response.headers["connection"] = "close"
        await response(scope, receive, send)
        return
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        start = {"status": problem.status, "headers": response.raw_headers}
        await send({"type": "websocket.http.response.start", **start})
        await send({"type": "websocket.http.response.body", "body": response.body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": problem.message[:120]})
