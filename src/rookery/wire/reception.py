"""The base of our own ACP agents, on stdio or over a network: it handles initialization, checks
which requests are accepted, and sees that each is answered. It loads only the wire, so that
`initialize` is answered at once."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from rookery.wire import greeting
from rookery.wire.failures import INTERNAL_ERROR, INVALID_REQUEST, REQUEST_CANCELLED
from rookery.wire.jsonrpc import ConnectionClosed, Incoming, Peer, RpcError, TooLarge
from rookery.wire.params import Json, invalid
from rookery.wire.pipes import take_stdio
from rookery.wire.websocket.resuming import Carrier

WIND_DOWN = 1.0
"""Seconds after the input's end for requests to be carried out, and for answers to be written."""

METHODS = frozenset(
    f"session/{word}"
    for word in (
        *("new", "load", "resume", "list", "close", "delete"),
        *("prompt", "set_mode", "set_config_option"),
    )
)


class Reception:
    """Serves one connection: `initialize` comes first; each later request runs as its own task."""

    name: str
    capabilities: Json = greeting.CAPABILITIES
    methods: frozenset[str] = METHODS

    def __init__(
        self,
        group: asyncio.TaskGroup,
        carrier: Carrier | None = None,
        read: bytes = b"",
        *,
        greeted: bool = False,
    ) -> None:
        """`carrier`: None for stdin and stdout, which nobody else in this process can use then.
        `read`: what was already read from stdin; `greeted`: the `initialize` in it has been
        answered."""
        self.closed = asyncio.Event()
        self.client: Json | None = None
        """The other side's capabilities; None before `initialize`."""
        self.client_info: Json = {}
        self.group = group
        self._serving: set[asyncio.Task[None]] = set()
        self.peer = Peer(
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_closed=self.closed.set,
            answer_noise=True,
        )
        self._greeted = greeted
        if carrier is None:
            if read:  # before anything that is still to be read
                asyncio.get_running_loop().call_soon(self.peer.data_received, read)
            self.peer.attach(*take_stdio())
        else:
            self.peer.carried_by(carrier)

    # --- what each agent says for itself ---------------------------------------------------------

    def welcome(self) -> Json:
        """Return the fields of the response to `initialize` that are particular to this agent."""
        return {"authMethods": []}

    async def carry_out(self, request: Incoming, params: Json) -> None:
        """Answer a request about a session. Raises RpcError, TooLarge, ConnectionClosed."""
        raise NotImplementedError

    def cancel(self, params: Json) -> None:
        """Handle `session/cancel`; it must not take effect before the first step of every request
        that came before it."""
        raise NotImplementedError

    def take_back(self, request: Incoming, params: Json) -> None:
        """Handle the cancellation of a prompt request: it ends with its turn."""
        raise NotImplementedError

    def error_data(self, message: str, data: object) -> object:  # noqa: ARG002 (a method)
        """Return the data to send with an error besides its message."""
        return data

    # --- requests --------------------------------------------------------------------------------

    def _on_request(self, request: Incoming) -> None:
        try:
            self._take(request)
        except RpcError as error:
            self._refuse(request, error)

    def _take(self, request: Incoming) -> None:
        params = {} if request.params is None else request.params
        if request.method != "initialize" and request.method not in self.methods:
            request.unknown()
        elif not isinstance(params, dict):
            raise invalid("params is not an object")
        elif request.method == "initialize":
            self._initialize(request, params)
        elif self.client is None:
            raise RpcError(INVALID_REQUEST, "initialize comes first")
        else:
            self._serve(request, params)

    def _initialize(self, request: Incoming, params: Json) -> None:
        self.client = greeting.client_of(params)
        info = params.get("clientInfo")
        self.client_info = info if isinstance(info, dict) else {}
        if self._greeted:
            self._greeted = False
            request.settle()
        else:
            request.reply(greeting.answer(self.name, self.capabilities, self.welcome()))

    def _serve(self, request: Incoming, params: Json) -> None:
        task = self.begin(self._answer(request, params), request.method)

        def taken_back() -> None:
            if request.method == "session/prompt":
                self.take_back(request, params)
            else:  # it is not waited for any more
                task.cancel()

        def ended(task: "asyncio.Task[None]") -> None:
            if task.cancelled():  # perhaps before its first step
                request.fail(REQUEST_CANCELLED, "Request cancelled")

        request.cancelled = taken_back
        task.add_done_callback(ended)

    async def _answer(self, request: Incoming, params: Json) -> None:
        try:
            await self.carry_out(request, params)
        except RpcError as error:
            self._refuse(request, error)
        except TooLarge as error:
            request.fail(INTERNAL_ERROR, str(error))
        except ConnectionClosed:
            return

    def _refuse(self, request: Incoming, error: RpcError) -> None:
        request.fail(error.code, error.message, self.error_data(error.message, error.data))

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        """Start a task that `wind_down` waits for."""
        task = self.group.create_task(work, name=name)
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return task

    def _on_notification(self, method: str, params: Any) -> None:
        if method == "session/cancel" and isinstance(params, dict):
            self.cancel(params)

    # --- the end ---------------------------------------------------------------------------------

    async def wind_down(self, seconds: float = WIND_DOWN) -> None:
        """Finish after the end of the input: carry out and write what was requested, until the time
        is up."""
        if self._serving:
            await asyncio.wait(self._serving, timeout=seconds / 2)
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(seconds / 2):
                await self.peer.drain(1)
        self.peer.close()

    async def let_go(self) -> None:
        """Release what is held for the other side, in a process that lives on."""


class Over(Exception):
    """Ends the task group: whatever still works for a session is cancelled."""


async def serve(make: Callable[[asyncio.TaskGroup], Reception]) -> None:
    """Serve one connection until its input ends. It ends nothing else: a process may serve many."""
    with suppress(Over):
        async with asyncio.TaskGroup() as group:
            reception = make(group)
            await reception.closed.wait()
            await reception.wind_down()
            await reception.let_go()
            raise Over
