"""A test run of an agent or an MCP server that leaves no process running."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Self, override

from rookery.agents import programs
from rookery.core.ask import options_in
from rookery.core.asks.asks import REJECTS, pick, selected
from rookery.core.json import Json, lenient
from rookery.core.units import duration
from rookery.core.vendors.environment import cleaned
from rookery.home import paths
from rookery.processes import MARK, become_subreaper, strays, tree
from rookery.processes.child import Child, Fence
from rookery.wire.jsonrpc import Answer, ConnectionClosed, Incoming, Peer, RpcError
from rookery.wire.pipes import PipeReader

TAIL = 4000
"""Characters of stderr that are kept."""

UMASK = 0o077
DETAILS = ("details", "message", "error")


class Reply(NamedTuple):
    """The outcome of a request; `code` is that of an error."""

    result: Any = None
    code: int | None = None
    message: str = ""
    seconds: float = 0.0
    updates: int = 0
    """How many updates had come before the answer."""

    @property
    def answered(self) -> bool:
        return self.code is not None or not self.message

    @property
    def good(self) -> bool:
        return self.code is None and not self.message

    @property
    def outcome(self) -> str:
        if self.good:
            return "answered with a result"
        return f"{self.code} {self.message}" if self.code is not None else self.message


class Program:
    """A program started by `async with Program(…)`, and ended with its whole tree."""

    def __init__(
        self, argv: list[str], cwd: str, environment: Mapping[str, str] = os.environ
    ) -> None:
        self.stderr_bytes = 0
        self.stderr = ""
        self.exited = asyncio.Event()
        self._argv, self._cwd, self._environment = argv, cwd, environment
        self._mark = f"doctor{os.getpid()}x{os.urandom(4).hex()}.1"
        # Recorded as an agent, so that it cannot answer for the user meanwhile.
        self._child = Child(lambda _status: self.exited.set(), Fence(paths.home(), confined=False))
        self._reader: PipeReader | None = None
        self._begun = 0.0

    async def __aenter__(self) -> Self:
        """Start the program. Raises OSError, with nothing left behind."""
        become_subreaper()  # what outlives its parent falls to us
        environment = programs.beside(self._argv, cleaned(self._environment))
        environment[MARK] = self._mark
        self._begun = time.monotonic()
        stdin, stdout, stderr = self._child.spawn(
            self._argv, cwd=self._cwd, environment=environment, umask=UMASK
        )
        self._reader = PipeReader(stderr, self._wrote, lambda: None)
        self.attach(stdout, stdin)
        return self

    def attach(self, stdout: int, stdin: int) -> None:
        """Take over these file descriptors."""
        raise NotImplementedError

    def detach(self) -> None:
        """Close the file descriptors."""
        raise NotImplementedError

    async def __aexit__(self, *_: object) -> None:
        self.detach()
        # In a thread, and waited for even if we are cancelled: nothing is left running.
        await asyncio.shield(asyncio.to_thread(self._end))
        if self._reader is not None:
            self._reader.close()
        await self.exited.wait()

    def _end(self) -> None:
        tree.end_tree(self.living())
        tree.end_below(os.getpid())
        strays.end(paths.home(), self._mark)

    def living(self) -> list[tree.Process]:
        """Return the program's processes: all that it started, including orphans."""
        rows = tree.table()
        own = [row for row in rows if self._child.pid in (row.pid, row.group)]
        return list(dict.fromkeys([*tree.below(os.getpid(), rows), *own]))

    @property
    def status(self) -> int | None:
        return self._child.status

    @property
    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._begun

    def memory(self) -> tuple[int | None, int]:
        """Return the private bytes of the whole tree (or None) and its number of processes."""
        living = self.living()
        sizes = [tree.private_memory(process.pid) for process in living]
        known = [size for size in sizes if size is not None]
        return (sum(known) if known else None), len(living)

    async def settle(self) -> None:
        """Wait up to 2 seconds for its exit, which may come a moment after its stdout has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.exited.wait()

    def end_words(self) -> str:
        if self.status is None:
            return "it closed its stdout"
        how = f"signal {-self.status}" if self.status < 0 else f"exit {self.status}"
        return f"it ended ({how})"

    def _wrote(self, data: bytes) -> None:
        self.stderr_bytes += len(data)
        self.stderr = (self.stderr + data.decode("utf-8", "replace"))[-TAIL:]


class Subject(Program):
    """An agent under test. Everything it sends is recorded."""

    def __init__(self, argv: list[str], cwd: str) -> None:
        super().__init__(argv, cwd)
        self.updates: list[tuple[str, Json]] = []
        self.requests: list[Incoming] = []
        self.noise: list[str] = []
        self.refusals: list[int] = []
        """Codes of errors without an id: how invalid lines were answered."""
        self.on_request: Callable[[Incoming], None] = refuse
        self.on_update: Callable[[Json], None] = lambda _update: None
        self.peer = Peer(
            on_request=self._requested, on_notification=self._notified, on_noise=self._heard_noise
        )

    @override
    def attach(self, stdout: int, stdin: int) -> None:
        self.peer.attach(stdout, stdin)

    @override
    def detach(self) -> None:
        self.peer.close()

    def has_ended(self) -> bool:
        return self.exited.is_set() or self.peer.ended

    async def ask(self, method: str, params: Any, within: float) -> Reply:
        """Send a request and wait up to `within` seconds for its answer."""
        settled: asyncio.Future[tuple[Answer, int]] = asyncio.get_running_loop().create_future()

        def heard(answer: Answer) -> None:
            if not settled.done():
                settled.set_result((answer, len(self.updates)))

        begun = time.monotonic()
        self.peer.send_request(method, params, heard)
        try:
            async with asyncio.timeout(within):
                answer, updates = await settled
        except TimeoutError:
            return Reply(message=f"{method} was not answered within {duration(within)}")
        seconds = time.monotonic() - begun
        match answer.error:
            case None:
                return Reply(answer.result, seconds=seconds, updates=updates)
            case RpcError() as error:
                return Reply(None, error.code, _message(error), seconds, updates)
            case ConnectionClosed():
                await self.settle()
        return Reply(message=self.end_words())

    def _requested(self, incoming: Incoming) -> None:
        self.requests.append(incoming)
        self.on_request(incoming)

    def _notified(self, method: str, params: Any) -> None:
        if method == "session/update":
            update = lenient.mapping(params, "update")
            self.updates.append((lenient.text(params, "sessionId"), update))
            self.on_update(update)

    def _heard_noise(self, kind: str, what: Any) -> None:
        if isinstance(what, dict) and what.get("id") is None and "error" in what:
            code = lenient.integer(what["error"], "code")
            self.refusals.append(0 if code is None else code)
        elif kind in ("malformed", "not a message", "too long"):
            shown = what.decode("utf-8", "replace") if isinstance(what, bytes) else repr(what)
            self.noise.append(lenient.first_line(shown))


def _message(error: RpcError) -> str:
    """Return the error's message, and details that some agents hide in its data."""
    more = next(filter(None, (lenient.text(error.data, key) for key in DETAILS)), "")
    message = lenient.first_line(error.message, 160) or "an error without a message"
    return (
        f"{message}: {lenient.first_line(more, 160)}" if more and more not in message else message
    )


def refuse(incoming: Incoming) -> None:
    """Refuse an agent's request: nothing was offered, and no permission is given."""
    if incoming.method == "session/request_permission":
        incoming.reply({"outcome": selected(pick(options_in(incoming.params), REJECTS))})
    else:
        incoming.unknown()
