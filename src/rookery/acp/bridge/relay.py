"""`rookery acp --url`: carries an editor's stdio to an ACP endpoint on another machine, for editors
that only start commands.

A break that the other end can heal is not seen by the editor: nothing is lost, nothing is repeated.
After any other, requests in flight fail with a typed error, and the relay connects again by itself:
it repeats the editor's `initialize` and resumes its sessions, without a replay
(docs/decisions/0042-acp-over-a-network.md)."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rookery.client.config.agent_address import link_to, read_private, with_scheme
from rookery.core import argv
from rookery.core.agent import opening
from rookery.core.json import Json, lenient
from rookery.wire.failures import INTERNAL_ERROR, ConnectionClosed, RpcError, RpcFailure, TooLarge
from rookery.wire.http.link import HttpLink
from rookery.wire.jsonrpc import HIGH_WATER, Answer, Incoming, Peer
from rookery.wire.pipes import take_stdio
from rookery.wire.websocket.client import FORBIDDEN, UNAUTHORIZED, ConnectError, Target
from rookery.wire.websocket.link import RECONNECT_TIMEOUT, AddressLink

TOKEN = "ROOKERY_TOKEN"  # noqa: S105 (its name)
FIRST = 10.0
"""Seconds for which a request waits for a server that does not respond yet."""
GOODBYE = 1.0

OPENS = ("session/load", "session/resume")
ENDS = ("session/close", "session/delete")
LOCKED = (UNAUTHORIZED, FORBIDDEN)
HOW = "Put a token into ROOKERY_TOKEN, or its file behind --token-file."
NETWORK: Json = {"errorKind": "network"}


class Relay:
    def __init__(self, url: str, target: Callable[[], Target]) -> None:
        """`target` may raise ConnectError."""
        self._url = url
        self.closed = asyncio.Event()
        self._target = target
        self._far: Peer | None = None
        self._held: list[Callable[[Peer], None]] = []
        """What the editor said while there was no connection; in its order."""
        self._refusals: list[Callable[[str], None]] = []
        """Of the requests among it."""
        self._connecting: asyncio.Task[None] | None = None
        self._hello: Json | None = None
        self._sessions: dict[str, Json] = {}
        """What each session of the editor's was opened with."""
        self._muted: set[str] = set()
        """Sessions that are loaded again: their replay is not for the editor."""
        self._asks: set[int] = set()
        """Requests of the other side that the editor has not answered."""
        self._draining: set[asyncio.Task[None]] = set()
        self._editor = Peer(
            on_request=self._asked,
            on_notification=self._notify,
            on_batch_end=self._balance,
            on_closed=self.closed.set,
            answer_noise=True,
        )

    async def run(self) -> None:
        """Run until the editor disconnects."""
        self._editor.attach(*take_stdio())
        await self.closed.wait()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._far is not None:
            with suppress(TimeoutError, ConnectionClosed):
                async with asyncio.timeout(GOODBYE):
                    await self._far.drain(1)
            self._far.on_closed = None
            self._far.close()
            await asyncio.sleep(0)

    # --- from the editor -------------------------------------------------------------------------

    def _asked(self, incoming: Incoming) -> None:
        self._hold_or(lambda far: self._forward(far, incoming))
        if self._far is None:
            data = NETWORK
            self._refusals.append(lambda why: incoming.fail(INTERNAL_ERROR, why, data))

    def _notify(self, method: str, params: Any) -> None:
        self._hold_or(lambda far: far.notify(method, params))

    def _hold_or(self, do: Callable[[Peer], None]) -> None:
        if self._far is not None:
            do(self._far)
            return
        self._held.append(do)
        self._connect(FIRST)

    def _forward(self, far: Peer, incoming: Incoming) -> None:
        def answered(answer: Answer) -> None:
            if answer.error is None:
                self._note(incoming, answer.result)
            _pass_on(incoming, answer)

        try:
            id = far.send_request(incoming.method, incoming.params, answered)
        except TooLarge as error:
            incoming.fail(INTERNAL_ERROR, str(error))
            return
        incoming.cancelled = lambda: far.notify("$/cancel_request", {"requestId": id})

    def _note(self, incoming: Incoming, result: object) -> None:
        """Note what has to be repeated on a new connection."""
        params = incoming.params if isinstance(incoming.params, dict) else {}
        name = lenient.text(params, "sessionId") or lenient.text(result, "sessionId")
        if incoming.method == "initialize":
            self._hello = params
        elif incoming.method in ("session/new", "session/fork", *OPENS) and name:
            self._sessions[name] = {
                key: params[key]
                for key in ("cwd", "mcpServers", "additionalDirectories")
                if key in params
            }
        elif incoming.method in ENDS:
            self._sessions.pop(name, None)

    # --- from the other side ---------------------------------------------------------------------

    def _asked_by_far(self, incoming: Incoming) -> None:
        def answered(answer: Answer) -> None:
            self._asks.discard(id)
            _pass_on(incoming, answer)

        try:
            id = self._editor.send_request(incoming.method, incoming.params, answered)
        except TooLarge as error:
            incoming.fail(INTERNAL_ERROR, str(error))
            return
        self._asks.add(id)
        incoming.cancelled = lambda: self._editor.notify("$/cancel_request", {"requestId": id})

    def _told_by_far(self, method: str, params: Any) -> None:
        if lenient.text(params, "sessionId") in self._muted:
            return
        with suppress(TooLarge):
            self._editor.notify(method, params)

    # --- the connection --------------------------------------------------------------------------

    def _connect(self, patience: float) -> None:
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connected(patience), name="connect")

    async def _connected(self, patience: float) -> None:
        link = link_to(self._url, self._target)
        far = Peer(
            on_request=self._asked_by_far,
            on_notification=self._told_by_far,
            on_batch_end=self._balance,
            answer_noise=True,
        ).carried_by(link)
        try:
            await link.open(patience)
            await self._take_up(far)
        except (ConnectError, RpcFailure) as error:
            far.close()
            wants_token = isinstance(error, ConnectError) and error.status in LOCKED
            self._give_up(f"{error} {HOW}" if wants_token else str(error))
            return
        self._far, far.on_closed = far, lambda: self._lost(link)
        held, self._held, self._refusals = self._held, [], []
        for do in held:
            do(far)

    async def _take_up(self, far: Peer) -> None:
        """Bring a new connection to the state that the editor believes it is in."""
        if self._hello is None:
            return
        reply = await far.request("initialize", self._hello)
        can = lenient.mapping(reply, "agentCapabilities")
        method = "session/resume" if opening.can(can, "resume") else "session/load"
        for name, params in list(self._sessions.items()):
            self._muted.add(name)
            try:
                await far.request(method, {"sessionId": name, **params})
            except RpcError as error:
                del self._sessions[name]
                say(f"session {name} could not be taken up again: {error}")
            finally:
                self._muted.discard(name)

    def _lost(self, link: AddressLink | HttpLink) -> None:
        """Note that the connection was lost. The requests in flight have failed already."""
        self._far = None
        say(f"the connection was lost: {link.why}; trying again")
        for id in self._asks:
            self._editor.notify("$/cancel_request", {"requestId": id})
        self._asks.clear()
        self._connect(RECONNECT_TIMEOUT)

    def _give_up(self, why: str) -> None:
        say(why)
        refusals, self._refusals, self._held = self._refusals, [], []
        for refuse in refusals:
            refuse(why)

    # --- who is slower ---------------------------------------------------------------------------

    def _balance(self) -> None:
        """Stop reading for a while from a side that sends faster than the other reads."""
        if self._far is not None:
            for reader, writer in ((self._far, self._editor), (self._editor, self._far)):
                if writer.buffered >= HIGH_WATER:
                    reader.pause()
                    task = asyncio.create_task(self._drained(reader, writer), name="drain")
                    self._draining.add(task)
                    task.add_done_callback(self._draining.discard)

    async def _drained(self, reader: Peer, writer: Peer) -> None:
        with suppress(ConnectionClosed):
            await writer.drain()
        reader.resume()


def _pass_on(incoming: Incoming, answer: Answer) -> None:
    match answer.error:
        case None:
            try:
                incoming.reply(answer.result)
            except TooLarge as error:
                incoming.fail(INTERNAL_ERROR, str(error))
        case RpcError() as error:
            incoming.fail(error.code, error.message, error.data)
        case _:
            message = (
                "The connection to the server was lost. The session is kept there, and a turn may "
                "still be running; load the session again to see it."
            )
            incoming.fail(INTERNAL_ERROR, message, NETWORK)


def say(text: str) -> None:
    print(f"rookery: {text}", file=sys.stderr, flush=True)


# --- the command ---------------------------------------------------------------------------------


def main(given: dict[str, str], variables: list[str]) -> int:
    """Run the relay; return the exit status. `variables`: the values of `--header-env`."""
    try:
        named = [_named(argument) for argument in variables]
    except argv.Misused as error:
        say(str(error))
        return 2

    def target() -> Target:
        headers = {name: _value(name, variable) for name, variable in named}
        if file := given.get("token-file"):
            headers["Authorization"] = with_scheme(
                "Authorization", read_private(os.path.expanduser(file), "The token")
            )
        elif token := os.environ.get(TOKEN, "").strip():
            headers.setdefault("Authorization", with_scheme("Authorization", token))
        ca = os.path.expanduser(given.get("ca", ""))
        return Target(given["url"], headers, ca, given.get("fingerprint", ""))

    with asyncio.Runner() as runner:
        runner.run(Relay(given["url"], target).run())
        os._exit(0)  # a name that is being looked up is not waited for


def _named(argument: str) -> tuple[str, str]:
    name, is_set, variable = argument.partition("=")
    if not name or not is_set or not variable.isidentifier():
        raise argv.Misused(f"--header-env {argument}: must be NAME=VARIABLE, such as X-Key=MY_KEY")
    return name, variable


def _value(name: str, variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ConnectError(f"The header {name} is the variable {variable}, and that is not set.")
    return with_scheme(name, value)
