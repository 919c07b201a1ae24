"""A client's view of one session: its events as they arrive, and commands that are sent until they
are done.

Clients read history from the file; the socket carries only new events, and every gap is filled from
the file. The client owns the retry (law 5): it makes the command's id and resends the command until
it sees that id in the log."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain

from rookery.build import OLDER, build, compare
from rookery.client import guard, waking
from rookery.client.daemon.origin import client_name
from rookery.client.environment import RENEWING, TERMINAL, renew_before
from rookery.client.offline import carry_out, left_open, write_post_mortem
from rookery.client.start import STARTING, TOO_MANY, StartError, reach_worker
from rookery.core import budgets, commands
from rookery.core.json.events import Event, Json, event_from_json, kind_of
from rookery.core.refusals import Fixed, Refused
from rookery.home import paths, worker_starts
from rookery.log.errors import Busy, Full, StoreError
from rookery.log.lock import is_locked
from rookery.log.reader import Reader
from rookery.wire.frames import Link, WorkerRefused

AWAITS = 0.25
"""Seconds between two looks for a worker, while a sleeping session is followed."""
RESEND = 10.0
"""Seconds without an outcome after which a command is sent again."""

PAGE = 1000

OLDER_REWIND = (
    "This session's worker is of an older build, which would rewind what others changed, too. "
    "End it first: rookery stop {}"
)

MOST_STARTS = 3
"""How often a worker that dies before it is ready is started for one command."""


class Rejected(Refused):
    """The session rejected a command."""

    def __init__(self, update: Json) -> None:
        super().__init__(str(update.get("reason")), str(update.get("message")))
        self.update = update


class Trouble(Fixed):
    """The worker cannot write; the command it was sent waits until it can."""

    kind = "pending"
    reason = "disk_full"

    @classmethod
    def about(cls, why: str, command: str) -> "Trouble":
        what = "prompt" if command == "prompt" else f"command ({command})"
        waits = f"The {what} waits in the worker and runs once it can write again; do not send it"
        log = "The session's worker cannot write to its log"
        return cls(f"{log}: {why.rstrip('.')}. {waits} again.")


type OnCall = Callable[[str, Json, Callable[[Json | None], None]], None]
"""Method, parameters, and what is to be called with the result (None: there is none)."""


class SessionClient(AbstractContextManager["SessionClient", None]):
    """A client of one session. Use one instance for one task at a time that follows, and any number
    that send.

    `offers`: the methods that the worker may call while this client follows; `on_call` handles
    them."""

    def __init__(
        self,
        home: str,
        session: str,
        client: str = "cli",
        *,
        offers: Sequence[str] = (),
        on_call: OnCall | None = None,
    ) -> None:
        self.home = home
        self.session = session
        self.directory = paths.session_dir(home, session)
        self.name = client_name(client)
        self._socket = paths.socket_path(self.directory)
        self.log = Reader.open(self.directory)
        """For history: pages, headers, blobs."""
        self._offers = offers
        self._on_call = on_call
        self.on_silence: Callable[[], object] = lambda: None
        """Called once for a command that the worker takes no notice of: it hangs. It is sent
        again all the same."""
        self._control: tuple[str, tuple[int, int]] | None = None
        """The control socket of the worker that is followed, and who listens there."""
        self._stirred = asyncio.Event()
        """A command of ours was done: there is news, and maybe a worker."""

    def close(self) -> None:
        self.log.close()

    def __exit__(self, *_error: object) -> None:
        self.close()

    # --- following ------------------------------------------------------------------------------

    async def follow(self, since: int = 0) -> AsyncIterator[Event]:
        """Yield every event after `since`, in order, each once, for ever. Following starts no
        worker."""
        last = since
        while True:
            link = await Link.open(self._socket, self.name, last, self._offers)
            try:
                if link is None:
                    self._look_for_a_death()
                for event in self._history(last):
                    yield event
                    last = event.seq
                if link is None:
                    await self._await_a_worker()
                    continue
                while (frame := await link.frame()) is not None:
                    self._hear(link, frame)
                    for event in self._news(frame, last):
                        yield event
                        last = event.seq
            finally:
                self._control = None
                if link is not None:
                    await link.close()

    async def _await_a_worker(self) -> None:
        """Wait a moment for a worker: nothing announces one, except a command of our own that woke
        it."""
        self._stirred.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(AWAITS):
                await self._stirred.wait()

    def _hear(self, link: Link, frame: tuple[str, object]) -> None:
        match frame:
            case ("welcome", {"control": str(name)}):
                self._control = (name, link.peer)
            case ("call", {"id": str(name), "method": str(method), "params": dict(params)}):
                if self._on_call is not None:
                    self._on_call(method, params, lambda result: link.reply(name, result))

    def _history(self, after: int, upto: int | None = None) -> Iterator[Event]:
        """Yield events page by page, so that a million of them are never held at once."""
        while page := self.log.read(after, PAGE, upto):
            yield from page
            after = page[-1].seq

    def _news(self, frame: tuple[str, object], last: int) -> Iterable[Event]:
        """Yield the events that a frame announces: itself, or those in the file up to it."""
        match frame:
            case ("event", dict(body)):
                event = event_from_json(body)
                if event.seq <= last:
                    return []
                gap = self._history(last, event.seq - 1) if event.seq > last + 1 else ()
                return chain(gap, (event,))
            case ("behind" | "lagged", int(seq)) if seq > last:
                return self._history(last, seq)
            case ("welcome", {"seq": int(seq)}) if seq > last:
                return self._history(last, seq)
        return []

    def _look_for_a_death(self) -> None:
        if is_locked(self.directory):
            return
        if left_open(self.log.header()):
            with suppress(Busy, StoreError, OSError):  # on a full disk it is said later
                write_post_mortem(self.directory)

    async def renew(self, command: Json, of: str = TERMINAL) -> str:
        """Give the session this process's environment before a command that restarts the agent, or
        a prompt to one that wanted a login. Returns a sentence on which variables differ, "" if
        none does.

        `of`: what this process runs in."""
        if command["do"] not in RENEWING:
            return ""
        header = self.log.header()
        renewal = await asyncio.to_thread(renew_before, self.home, header, command, of)
        if renewal is None:
            return ""
        change, restart = renewal
        if restart:
            await self.send({"do": "restart"})
        return f"The agent gets this {of}'s environment: {change.describe()}."

    # --- sending --------------------------------------------------------------------------------

    async def send(
        self, command: Json, *, row: commands.Command | None = None, wake: bool | None = None
    ) -> Event:
        """Send a command until its outcome is in the log; return the outcome. `row`: how the
        command is handled, if the core's own table does not say.

        Raises Rejected, StartError, and Trouble: the command waits in the worker until the disk
        accepts it."""
        command = {"id": os.urandom(8).hex(), **command}
        row = commands.row_of(command) if row is None else row
        wake = self._is_worth_a_worker(command, row) if wake is None else wake
        outcome, starts, silent = self.log.find(command["id"]), 0, False
        if command["do"] == "restart":
            worker_starts.forget(self.home, self.session)
        if command["do"] in ("prompt", "retry", "switch", "clear", "rewind") and outcome is None:
            await self._end_older()
            if command["do"] == "rewind" and is_locked(self.directory) and await self._is_older():
                raise Rejected({"reason": "older", "message": OLDER_REWIND.format(self.session)})
        while outcome is None:
            control = await self._known_control(command, row)
            link = control or await Link.open(self._socket, self.name, self.log.last_seq())
            if link is not None:
                try:
                    if control is None and commands.is_guarded(command, row):
                        link = await self._controlling(link)
                        outcome = self.log.find(command["id"])
                    outcome = outcome or await self._ask(link, command)
                except TimeoutError:
                    if not silent:
                        self.on_silence()
                    silent = True
                finally:
                    await link.close()
            elif wake and not self._is_an_agents(command, row):
                try:
                    starts = await self._start(starts)
                except StartError as error:
                    wake = error.reason == TOO_MANY and await asyncio.to_thread(
                        waking.make_room, self.home, self.session
                    )
                    if not wake and not self._is_kept(command, error):
                        raise
            else:
                with suppress(Busy):
                    carry_out(self.directory, command, self.name, row)
            outcome = outcome or self.log.find(command["id"])
        if waking.is_left_to_wait(self.directory, outcome.update):
            await asyncio.to_thread(waking.ring, self.home)
        self._stirred.set()
        if kind_of(outcome.update) == "_rejected":
            raise Rejected(outcome.update)
        return outcome

    async def _known_control(self, command: Json, row: commands.Command | None) -> Link | None:
        """Connect to the control socket of the worker that is followed. None if it is not known:
        the worker has to be asked for its name first."""
        if self._control is None or not commands.is_guarded(command, row):
            return None
        name, peer = self._control
        control = await Link.open(f"\0{name}", self.name, self.log.last_seq())
        if control is not None and control.peer != peer:
            await control.close()
            return None
        return control

    async def _controlling(self, link: Link) -> Link:
        """Return a connection to the worker's control socket if it has one; else the existing one,
        and the worker decides whether to accept that. Raises TimeoutError if the worker hangs."""
        while (frame := await asyncio.wait_for(link.frame(), RESEND)) is not None:
            match frame:
                case ("welcome", {"control": str(name)}):
                    control = await Link.open(f"\0{name}", self.name, self.log.last_seq())
                    if control is None:
                        return link
                    if control.peer != link.peer:  # somebody stands between us and the worker
                        await control.close()
                        raise WorkerRefused("Another process is listening on the worker's socket.")
                    await link.close()
                    return control
                case ("welcome", _):
                    return link
        return link

    @staticmethod
    def _is_kept(command: Json, error: StartError) -> bool:
        """Whether the command waits in the log for the next worker: an answer does, and a prompt if
        no more workers may be awake."""
        waits = command["do"] == "prompt" and error.reason in (TOO_MANY, STARTING)
        return command["do"] == "answer" or waits

    def _is_an_agents(self, command: Json, row: commands.Command | None) -> bool:
        """Whether an agent sends a command that agents may not send."""
        return bool(commands.agents_refusal(command, row)) and guard.of_an_agent(self.home)

    def _is_worth_a_worker(self, command: Json, row: commands.Command | None) -> bool:
        """Whether to wake a worker for the command. For an answer, if its ask is still open;
        likewise for a budget that an ask is about."""
        if command["do"] == "set" and command.get("option") in commands.BUDGETS:
            return budgets.open_ask(self.log.header()) is not None
        wakes = commands.wakes(command, row)
        if not wakes or command["do"] != "answer":
            return wakes
        return command.get("ask") in self.log.header().asks

    async def _end_older(self) -> None:
        """Have an idle worker of an older build make way for one of this build. The worker itself
        makes sure that no turn is cut off by that."""
        if not await self._is_older():
            return
        worker = paths.read_json(os.path.join(self.directory, paths.WORKER)) or {}
        from rookery.client.update.workers import is_replaceable  # seldom: after an update

        if not is_replaceable(self.log.header(), worker):
            return
        link = await Link.open(self._socket, self.name, self.log.last_seq())
        if link is not None:
            try:
                with suppress(TimeoutError):
                    stop = {"id": os.urandom(8).hex(), "do": "stop", "idle": True, "newer": True}
                    await self._ask(link, stop)
            finally:
                await link.close()

    async def _is_older(self) -> bool:
        """Whether the worker is of an older build."""
        worker = paths.read_json(os.path.join(self.directory, paths.WORKER)) or {}
        name = worker.get("build", build())
        if worker.get("ended") or name == build():
            return False
        # Between two checkouts, git is asked.
        return await asyncio.to_thread(compare, str(name)) == OLDER

    async def _start(self, starts: int) -> int:
        """Start a worker; return how many were started for this command. One that is killed at once
        is started again, one that always dies is not."""
        try:
            await asyncio.to_thread(reach_worker, self.home, self.session)
        except StartError as error:
            if error.reason != "died" or starts + 1 >= MOST_STARTS:
                raise
        return starts + 1

    async def _ask(self, link: Link, command: Json) -> Event | None:
        """Send once and wait for the outcome; None if the worker went away or does not report it.
        Raises TimeoutError if it says nothing at all."""
        link.command(command)
        heard = False
        try:
            async with asyncio.timeout(RESEND):
                while (frame := await link.frame()) is not None:
                    heard = True
                    match frame:
                        case ("event", {"cause": cause, **_rest}) if cause == command["id"]:
                            return self.log.find(command["id"])
                        # The outcome may be older than this connection: the worker ignores an
                        # id that it knows, and says nothing more.
                        case ("welcome" | "behind" | "lagged", _):
                            if (outcome := self.log.find(command["id"])) is not None:
                                return outcome
                        case ("trouble", {"message": message, **rest}):
                            full = rest.get("reason") == Full.__name__
                            why = "the disk is full" if full else str(message)
                            raise Trouble.about(why, str(command["do"]))
        except TimeoutError:
            if not heard:
                raise
        return None
