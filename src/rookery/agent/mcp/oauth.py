"""The OAuth client for MCP servers. It never opens a browser: the user gets the address, by an
elicitation of the session or on the command line, and a callback on loopback gets the code."""

import asyncio
import logging
import socket
import time
import uuid
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, NamedTuple, override

import httpx
from fastmcp.client.auth.oauth import ClientNotFoundError
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from openhands.sdk.mcp.config import MCPOAuthAuthCredential, MCPServer
from openhands.sdk.mcp.oauth import MCPOAuth

from rookery.client.login import servers as logins
from rookery.core.json import Json, lenient

HOST = "127.0.0.1"
WITHIN = 3600.0
"""Seconds in which the user logs in."""
CHECKED = 10.0
"""Seconds for a look at the authorization page."""


for _name in ("mcp.client.auth", "fastmcp.client.auth"):  # they log what they also raise
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class NeedsLogIn(Exception):
    """The server requires a login, which only the user can do."""


class Declined(Exception):
    """The user does not want to log in."""


class PendingLogIn(NamedTuple):
    """A login that waits for the user."""

    id: str
    url: str


type Ask = Callable[[PendingLogIn], Awaitable[bool]]
"""Shows the address; whether the user opens it. May take as long as the login."""
type Notify = Callable[[], None]


def applies_to(server: MCPServer) -> bool:
    """Tell whether a server may ask for a login: a remote one without credentials of its own."""
    headers = {name.lower() for name in getattr(server, "headers", None) or {}}
    return bool(getattr(server, "url", None)) and not server.auth and "authorization" not in headers


def with_login(server: MCPServer) -> MCPServer:
    return server.model_copy(update={"auth": MCPOAuthAuthCredential(strategy="oauth2")})


class Tokens:
    """The SDK's store of one server's login, in a file. In a sandbox the file cannot be written:
    the login then ends with the process."""

    def __init__(self, home: str, url: str) -> None:
        self._home, self._url = home, url
        self.login: Json = logins.read(home, url)

    def is_outdated(self) -> bool:
        """Tell whether the file has other tokens by now; if so, they are loaded."""
        newest = logins.read(self._home, self._url)
        if not newest.get("tokens") or newest["tokens"] == self.login.get("tokens"):
            return False
        self.login = newest
        return True

    def _keep(self, **fields: Any) -> None:
        self.login = {**self.login, **fields}
        with suppress(OSError):
            logins.write(self._home, self._url, self.login)

    async def get_tokens(self) -> OAuthToken | None:
        tokens = lenient.mapping(self.login, "tokens")
        return OAuthToken.model_validate(tokens) if tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expiry = time.time() + tokens.expires_in if tokens.expires_in else None
        self._keep(tokens=tokens.model_dump(mode="json", exclude_none=True), expiry=expiry)

    async def get_token_expiry(self) -> float | None:
        return lenient.number(self.login, "expiry")

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = lenient.mapping(self.login, "client")
        return OAuthClientInformationFull.model_validate(client) if client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep(client=client_info.model_dump(mode="json", exclude_none=True))

    async def clear(self) -> None:
        self.login = {}
        with suppress(OSError):
            logins.forget(self._home, self._url)


class LogIn(MCPOAuth):
    """The login to one server. Without `ask`, a missing login is an error (NeedsLogIn), and
    `missing` is called before it is raised. `done` is called when the browser has come back."""

    def __init__(
        self,
        home: str,
        url: str,
        ask: Ask | None = None,
        missing: Notify | None = None,
        done: Callable[[str], None] | None = None,
    ) -> None:
        self._ask, self._missing, self._done = ask, missing, done
        self._tokens = Tokens(home, url)
        self._wanted: PendingLogIn | None = None
        super().__init__(
            client_name="Rookery",
            callback_port=_free(_registered(self._tokens.login)),
            callback_host=HOST,
            callback_timeout=WITHIN,
        )
        with warnings.catch_warnings(action="ignore"):  # of its store in memory, not used
            self._bind(url)

    @override
    def _bind(self, mcp_url: str) -> None:
        if not self._bound:
            super()._bind(mcp_url)
            self.token_storage_adapter: Any = self._tokens
            self.context.storage = self._tokens

    @override
    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        if self._tokens.is_outdated():  # another session refreshed them: the old ones are void
            self._initialized = False
        async with aclosing(super().async_auth_flow(request)) as flow:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                try:
                    outgoing = await flow.asend(response)
                except StopAsyncIteration:
                    return

    @override
    async def redirect_handler(self, authorization_url: str) -> None:
        if self._ask is None:
            if self._missing is not None:
                self._missing()
            raise NeedsLogIn
        await self._check_client(authorization_url)
        self._wanted = PendingLogIn(f"mcp-{uuid.uuid4().hex}", authorization_url)

    async def _check_client(self, address: str) -> None:
        """Have the client registered again if the server has forgotten it, or it was registered
        with another port. Raises ClientNotFoundError."""
        info = self.context.client_info
        mine = f"http://{HOST}:{self.redirect_port}/callback"
        if info is not None and mine not in map(str, info.redirect_uris or ()):
            raise ClientNotFoundError
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(timeout=CHECKED) as client:
                answer = await client.get(address, follow_redirects=False)
            if answer.status_code in (400, 401):
                raise ClientNotFoundError

    @override
    async def callback_handler(self) -> tuple[str, str | None]:
        """Wait for the browser to come back; end early if the user declines."""
        assert self._ask is not None
        assert self._wanted is not None
        waiting = asyncio.ensure_future(super().callback_handler())
        asking = asyncio.ensure_future(self._ask(self._wanted))
        try:
            await asyncio.wait((waiting, asking), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done() and not asking.result():
                raise Declined
            code_and_state = await waiting
            if self._done is not None:
                self._done(self._wanted.id)
            return code_and_state
        finally:
            for each in (waiting, asking):
                each.cancel()
            await asyncio.gather(waiting, asking, return_exceptions=True)


def _registered(login: Json) -> int:
    """Return the port that the client was registered with; 0 if none."""
    uris = lenient.texts(lenient.mapping(login, "client"), "redirect_uris")
    return next((port for each in uris if (port := httpx.URL(each).port)), 0)


def _free(port: int) -> int | None:
    """Return the port if nobody else listens there."""
    with socket.socket() as probe, suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
        return port or None
    return None
