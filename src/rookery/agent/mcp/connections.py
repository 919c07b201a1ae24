"""The connections to a conversation's MCP servers. All are tried at once, and the first prompt
waits for them a moment; those that are missing then are named once. A server that is down is tried
again, and its tools are added when it answers, as are those it adds later.

MCP's libraries are loaded with the first server: most sessions have none, and would start later."""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from rookery.agent import private
from rookery.agent.mcp.names import Names
from rookery.agent.mcp.reasons import chain, is_late, last_words, reason
from rookery.agent.process.client import Client
from rookery.core.json import lenient
from rookery.home import paths
from rookery.wire.jsonrpc import RpcFailure
from rookery.wire.mcp import KIND
from rookery.wire.params import offers

if TYPE_CHECKING:
    from types import ModuleType

    from openhands.sdk import LocalConversation
    from openhands.sdk.mcp.client import MCPClient
    from openhands.sdk.mcp.config import MCPServer
    from openhands.sdk.mcp.tool import MCPToolDefinition

    from rookery.agent.mcp.oauth import PendingLogIn

MOMENT = 2.9
"""Seconds that a conversation waits for its servers, all together; loading the libraries counts."""
LEAST = 1.0
"""Seconds that they have at least, however long the libraries took."""
SECONDS = 30.0
"""For one try to connect, unless the server's entry says otherwise."""
PAUSES = (2.0, 5.0, 10.0, 20.0, 30.0, *[60.0] * 10)
"""Seconds between two tries, unless a prompt comes first; after the last, only a prompt leads to
another."""
ADDED = "A server's tools are added when it answers."
LATE = f"no answer within {MOMENT:.0f} seconds"


LOGGING_IN = "waiting for you to log in"
NEEDS = "it needs a login: rookery mcp login {}"
DECLINED = "you did not log in; to do so later: rookery mcp login {}"


class OfClient(NamedTuple):
    """The session's client, as far as servers need it. Called in any thread."""

    client: Client
    session: str
    loop: asyncio.AbstractEventLoop
    """Of its connection."""

    def opens_addresses(self) -> bool:
        return offers(self.client.capabilities, "elicitation", "url")

    def connect(self, server: str, timeout: float, reconcile: Any) -> "MCPClient":
        """Connect to a server that the client provides."""
        from rookery.agent.mcp import over_acp

        channel = over_acp.Channel(self.client.mcp, self.loop)
        return over_acp.connect(channel, server, timeout, reconcile)

    async def ask(self, name: str, wanted: "PendingLogIn") -> bool:
        """Send the user to a server's login, by an elicitation. Returns whether they go."""
        asking = asyncio.run_coroutine_threadsafe(self._ask(name, wanted), self.loop)
        return await asyncio.wrap_future(asking)

    async def _ask(self, name: str, wanted: "PendingLogIn") -> bool:
        params = {"sessionId": self.session, "mode": "url", "url": wanted.url}
        params |= {"message": f"Log in to MCP server {name}", "elicitationId": wanted.id}
        try:
            answer = await self.client.peer.request("elicitation/create", params)
        except RpcFailure:
            return False
        return lenient.text(answer, "action") == "accept"

    def done(self, name: str) -> None:
        params = {"elicitationId": name}
        self.loop.call_soon_threadsafe(self.client.peer.notify, "elicitation/complete", params)


class Listener:
    """Callbacks about servers. Called in any thread."""

    def mcp_client(self) -> OfClient | None:
        return None

    def mcp_notice(self, text: str, *, failed: bool = False) -> None:
        """Show which servers are missing, or have connected after all."""


class Connections:
    def __init__(
        self,
        conversation: "LocalConversation",
        names: Names,
        timeouts: Mapping[str, float],
        listener: Listener,
    ) -> None:
        self._conversation = conversation
        self._listener = listener
        self._names = names
        self._timeouts = timeouts
        self._changed = threading.Condition()
        self._clients: dict[str, MCPClient] = {}
        self._failures: dict[str, str] = {}
        self._begun = False
        """The conversation has begun: later tools are added to it."""
        self._prompts = 0
        self._closed = threading.Event()

    def connect(self, servers: "Mapping[str, MCPServer]") -> "list[MCPToolDefinition]":
        """Connect to all and return the tools of those that answer in time. Blocks meanwhile."""
        began = monotonic()
        load()
        if any(server.url and not of_client(server) for server in servers.values()):
            _oauth()
        for name, server in servers.items():
            work = partial(self._keep_trying, name, server)
            threading.Thread(target=work, name=f"mcp {name}", daemon=True).start()
        left = max(MOMENT - (monotonic() - began), LEAST)
        with self._changed:
            self._changed.wait_for(lambda: self._are_known(servers), left)
            here = {name: self._clients[name] for name in servers if name in self._clients}
            why = {name: self._failures.get(name, LATE) for name in servers if name not in here}
            self._begun = True
        self._miss({name: reason for name, reason in why.items() if reason != LOGGING_IN})
        return [tool for name, client in here.items() for tool in self._tools(name, client)]

    def _are_known(self, servers: Iterable[str]) -> bool:
        return self._closed.is_set() or {*servers} <= {*self._clients, *self._failures}

    def _miss(self, reasons: Mapping[str, str]) -> None:
        if reasons and not self._closed.is_set():
            self._listener.mcp_notice(missing(reasons), failed=True)

    def try_again(self) -> None:
        """Retry the servers that are down, since a prompt begins; do not wait for them."""
        with self._changed:
            self._prompts += 1
            self._changed.notify_all()

    def state(self, name: str) -> str:
        """Return why a server has no tools; "" if it is connected."""
        with self._changed:
            if name in self._clients:
                return ""
            why = self._failures.get(name)
        return f"not connected: {why}" if why else "not connected yet"

    def close(self) -> None:
        """Close servers that connect after this; the tools close the others."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    # --- one server ------------------------------------------------------------------------------

    def _keep_trying(self, name: str, server: "MCPServer") -> None:
        output: str | None = None
        asks: OfClient | None = None
        pauses = iter(PAUSES)
        while True:
            try:
                client = self._connect(name, server, asks)
            except Exception as error:  # noqa: BLE001 - a foreign server can fail in any way
                if server.url and not of_client(server) and _wants_log_in(error):
                    asks = self._may_ask(name, asks)
                    if asks is None:
                        return
                    continue
                output = last_words(server) if output is None else output
                why = reason(server, error)
                self._fail(name, f"{output}; {why}" if output else why, is_late(error))
                if self._waited_in_vain(next(pauses, None)):
                    return
            else:
                self._come(name, client)
                return

    def _connect(self, name: str, server: "MCPServer", asks: OfClient | None) -> "MCPClient":
        """Connect. `asks`: asks the user if the server wants a login; else that is an error."""
        within, more = self._timeouts.get(name, SECONDS), dict[str, Any]()
        reconcile = partial(self._reconcile, name)
        if provided := of_client(server):
            client = self._listener.mcp_client()
            if client is None:
                raise ValueError("this session has no client that could provide it")
            return client.connect(provided, within, reconcile)
        if server.url and (oauth := _oauth()).applies_to(server):
            log_in = partial(oauth.LogIn, paths.home(), str(server.url))
            server = oauth.with_login(server)
            if asks is not None:
                within = oauth.WITHIN
                log_in = partial(log_in, partial(asks.ask, name), done=asks.done)
            more["mcp_oauth_factory"] = lambda *_: log_in()
        return private.create_tools(
            self._conversation, {name: server}, within, on_tools_reconciled=reconcile, **more
        )

    def _may_ask(self, name: str, asked: OfClient | None) -> OfClient | None:
        """Return the client that asks the user to log in, once; None: leave the server out."""
        asks = None if asked else self._listener.mcp_client()
        if asks is None or not asks.opens_addresses():
            with self._changed:
                self._failures.pop(name, None)  # which said that it waits
            self._fail(name, (DECLINED if asked else NEEDS).format(name))
            return None
        with self._changed:  # nobody is told: the ask says it
            self._failures[name] = LOGGING_IN
            self._changed.notify_all()
        return asks

    def _waited_in_vain(self, pause: float | None) -> bool:
        """Wait for the next try. Returns whether the conversation was closed instead."""
        with self._changed:
            before = self._prompts
            self._changed.wait_for(lambda: self._closed.is_set() or self._prompts > before, pause)
        return self._closed.is_set()

    def _fail(self, name: str, why: str, late: bool = False) -> None:
        """Note a failure; `connect` shows it if it still waits. `late`: only if it has not."""
        with self._changed:
            is_news = self._begun and not late and name not in self._failures
            self._failures[name] = why
            self._changed.notify_all()
        if is_news:
            self._miss({name: why})

    def _come(self, name: str, client: "MCPClient") -> None:
        with self._changed:
            self._clients[name] = client
            self._failures.pop(name, None)
            self._changed.notify_all()
            late = self._begun
        if late and not self._closed.is_set():
            self._reconcile(name, client, client.tools)
            count = len(client.tools)
            tools = "1 tool" if count == 1 else f"{count} tools"
            self._listener.mcp_notice(f"MCP server {name} is connected.\nAdded {tools}.\n")
        if self._closed.is_set():
            client.sync_close()

    # --- its tools -------------------------------------------------------------------------------

    def _tools(self, name: str, client: "MCPClient") -> "list[MCPToolDefinition]":
        """Return a server's tools, under the model's names for them."""
        from rookery.agent.sdk_patches import mcp_calls

        tools = {tool.name: tool for tool in client.tools}
        given = self._names.give(name, tools, self._taken())
        timeout = self._timeouts.get(name)
        return [mcp_calls.tool(tool, given[own], timeout) for own, tool in tools.items()]

    def _taken(self) -> set[str]:
        from openhands.sdk.mcp.tool import MCPToolDefinition

        known = self._conversation.agent.tools_map.items()
        return {name for name, tool in known if not isinstance(tool, MCPToolDefinition)}

    def _reconcile(self, name: str, client: "MCPClient", _: "Sequence[MCPToolDefinition]") -> None:
        """Set a server's tools. Called in its client's thread, or its connection's."""
        if self._closed.is_set():
            return
        tools = self._tools(name, client)
        while True:
            agent = self._conversation.agent
            private.set_tools(agent, client, tools)
            if self._conversation.agent is agent:  # a change of the model replaces it
                return


def load() -> None:
    """Import MCP's libraries, which takes over a second."""
    from rookery.agent.sdk_patches import mcp_calls  # noqa: F401


def of_client(server: "MCPServer") -> str:
    """Return the id of a server that the session's client provides; "" if it does not."""
    kind, _, id = str(server.url or "").partition(":")
    return id if kind == KIND else ""


def missing(reasons: Mapping[str, str]) -> str:
    """Return the notice that names the servers a conversation goes on without."""
    if len(reasons) == 1:
        [(name, why)] = reasons.items()
        return f"Continuing without MCP server {name}: {why}.\n{ADDED}\n"
    *names, last = reasons
    lines = [f"{name}: {why}" for name, why in reasons.items()]
    heading = f"Continuing without MCP servers {', '.join(names)} and {last}."
    return "\n".join([heading, *lines, ADDED, ""])


def _wants_log_in(error: BaseException) -> bool:
    """Tell whether only the user can go on, by logging in, or has declined to."""
    oauth = _oauth()
    return any(isinstance(each, oauth.NeedsLogIn | oauth.Declined) for each in chain(error))


def _oauth() -> "ModuleType":
    """Import the OAuth module, with the first remote server."""
    from rookery.agent.mcp import oauth

    return oauth
