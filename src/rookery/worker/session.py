"""The session while it is awake, as every part of its worker sees it: its log, its settings, the
state of the machines, and the effects that are due.

Durable first, visible second: drafts wait in the journal until they are committed (law 3). If the
disk is full, the commit fails cleanly, nothing moves on, clients are told, and the same drafts are
tried again.

Everything happens on one thread, one input at a time. A part feeds a machine or appends to the log,
and the engine performs what is due. Anything that comes from outside calls `wake`."""

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import rookery
from rookery.agents import programs, registry
from rookery.client.config.in_force import InForce
from rookery.core import budgets, spending
from rookery.core.agent import imported, ingest, messages, pictures
from rookery.core.agent import machine as agent_machine
from rookery.core.agent.addresses import address_of
from rookery.core.agent.chunks import Lanes
from rookery.core.agent.opening import chosen_with
from rookery.core.asks import kept_asks
from rookery.core.asks.asks import Refusal
from rookery.core.critic import loop as critic_loop
from rookery.core.critic.loop import overhear
from rookery.core.header import Header
from rookery.core.json import Draft, Event, Json, lenient
from rookery.core.limits import CriticPolicy, Policy
from rookery.core.policy import modes
from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.sandbox import NONE
from rookery.core.turn import machine as turn_machine
from rookery.core.turn import messages as turns
from rookery.core.turn import rate_limit, watchdogs, worker_idle
from rookery.core.turn.queue import Queued
from rookery.core.units import duration
from rookery.core.vendors import profiles
from rookery.core.view import last_line
from rookery.home.config import Config
from rookery.log.errors import StoreError
from rookery.log.store import Writer
from rookery.processes.child import Fence
from rookery.worker import environment
from rookery.worker.sandbox import SessionSandbox, Subject
from rookery.worker.sender import Sender
from rookery.worker.settings_watch import SettingsWatch, Source, broken, news

type Effect = turns.Effect | messages.Effect | critic_loop.Effect | partial[None]


SOON = 0.02
"""Seconds that what an agent said may wait for the rest of it, where it goes on at once."""


def now() -> float:
    return time.monotonic()


class Session:
    def __init__(self, directory: str, writer: Writer, source: Source, settings: InForce) -> None:
        self.directory = directory
        self.home = os.path.dirname(os.path.dirname(directory))
        self.in_force = settings
        """The settings in force."""
        self.journal = Journal(writer, Lanes(settings.config.policy.chunk_window))
        self.surroundings = environment.of_session(directory)
        about = (lambda: self.header), self.argv, self._subject
        self.sandbox = SessionSandbox(directory, self.surroundings.environment, *about)
        self.fence = Fence(self.home, confined=self._is_confined())
        self.surroundings = self.surroundings._replace(fence=self.fence)
        self.servers = environment.Servers(directory, self.surroundings)
        self.turn = _turn_of(self.header)
        parked = self.header.process["state"] == "parked"  # which outlives a worker
        self.agent = messages.Agent(past=messages.Past(parked=parked))
        self.critic = critic_loop.restored(self.header)
        self.watch = watchdogs.Watch()
        self.rest = worker_idle.Rest(event_at=now(), left_at=now())
        self.commands: deque[tuple[Json, Sender]] = deque()
        self.asked: set[str] = set()
        """Ids of commands whose outcome is not in the log yet."""
        self.effects: deque[Effect] = deque()
        self.weigh: Callable[[turns.Turn, turns.Input], turns.Turn] = lambda turn, _: turn
        """The turn as budgets leave it before an input."""
        self.halts: Callable[[str], bool] = lambda _: False  # a request of this method, for one
        self.woken, self.stirred = asyncio.Event(), asyncio.Event()
        """Something happened: the host's next slow checks come soon."""
        self.goes_on = False
        """The last that the agent said was a question, and it has its answer already."""
        self._soon: asyncio.TimerHandle | None = None
        self.stopped = False
        self.jobs: set[int] = set()  # processes of the worker's own: the agent's end spares them
        self.settings = SettingsWatch(source, settings)
        self._profile: tuple[tuple[str, list[str], str], profiles.Profile] | None = None
        self.saved_model = ""

    @property
    def header(self) -> Header:
        return self.journal.writer.header

    @property
    def config(self) -> Config:
        return self.in_force.config

    @property
    def policy(self) -> Policy:
        return self.in_force.config.policy

    @property
    def critic_policy(self) -> CriticPolicy:
        """The configuration's critic policy, changed by the user's choices for this session."""
        return critic_loop.in_force(self.config.critic, self.header.critic)

    @property
    def attached(self) -> bool:
        return self.rest.left_at is None

    # --- machines --------------------------------------------------------------------------------

    def feed_turn(self, given: turns.Input) -> None:
        before, at = self.weigh(self.turn, given), now()
        self.turn, effects = turn_machine.step(before, given, at, self.policy)
        self.critic, heard = overhear(self.critic, given, effects, at, self.critic_policy)
        self.effects.extend(heard)
        if self.turn.phase == "running" and before.phase != "running":
            self.watch = watchdogs.began(at)
        elif self.turn.phase != "running":
            self.watch = watchdogs.ended(self.watch)

    def feed_agent(self, given: messages.Input) -> None:
        self.agent, effects = agent_machine.step(
            self.agent, given, now(), self._wish(), self.policy
        )
        self.effects.extend(effects)

    def feed_critic(self, given: critic_loop.Input) -> None:
        self.critic, effects = critic_loop.step(self.critic, given, now(), self.critic_policy)
        self.effects.extend(effects)

    def record(self, update: Json) -> None:
        """Append an update from the agent, behind everything that still waits for the disk."""
        self.goes_on = False
        self.watch, barks = watchdogs.heard(self.watch, update, now(), self.profile())
        self.bark(barks)
        if self.effects:
            self.append(Draft(update))
        else:
            self.journal.record(update, now())

    def bark(self, barks: list[watchdogs.Effect]) -> None:
        """Log what a watchdog reports, with its reason."""
        turn = {"sessionUpdate": "_turn", "turn": self.turn.n}
        for bark in barks:
            match bark:
                case watchdogs.Quiet(after):
                    detail = f"no message for {duration(after)}, and nothing is in flight"
                    update = turn | {"state": "quiet", "detail": detail}
                    self.append(Draft(update, None, "watchdog:quiet"))
                case watchdogs.Moving():
                    self.append(Draft(turn | {"state": "running"}))
                case watchdogs.Silent(why):
                    self.feed_turn(turns.Orphaned(why))

    # --- effects ---------------------------------------------------------------------------------

    def append(self, draft: Draft, *, full: bool = False) -> None:
        self.effects.append(turns.Append(draft, full))

    def then[**P](self, do: Callable[P, None], *args: P.args, **named: P.kwargs) -> None:
        """Call `do` once everything before it is committed."""
        self.effects.append(partial(do, *args, **named))

    def do_next(self, effects: Iterable[Effect]) -> None:
        """Perform these effects before everything that is due already."""
        self.effects.extendleft(reversed(list(effects)))

    def reject(self, command: Json, refusal: Refusal, by: str) -> None:
        name = str(command["do"])[:40]
        self.append(turns.rejected(name, refusal.reason, refusal.message, command["id"], by))

    def done(self, command: Json, by: str | None, detail: str = "") -> None:
        """Log the outcome of a command that leaves nothing else in the log."""
        update: Json = {"sessionUpdate": "_done", "command": command["do"]}
        update |= {"detail": detail} if detail else {}
        self.append(Draft(update, command["id"], by))

    def wake(self) -> None:
        """Have the engine perform what follows from an input that came from outside."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        self.woken.set()

    def heard(self) -> None:
        """Note that no more can be read from the agent now. If it goes on, it sends more in a
        moment, and all of that becomes one commit."""
        waits, self.goes_on = self.goes_on and not self.effects, False
        if not waits:
            self.wake()
        elif self._soon is None and not self.woken.is_set():
            self._soon = asyncio.get_running_loop().call_later(SOON, self.wake)

    def stop(self, reason: str, cause: str | None = None, by: str | None = None) -> None:
        """End the turn, the agent and then this worker."""
        if self.stopped:
            return
        self.stopped = True
        self.end_turn(f"stopped ({reason})")
        self.feed_critic(critic_loop.Stopped())
        self.end_agent(reason, cause, by, full=True)
        self.wake()

    def end_turn(self, detail: str) -> None:
        reason = kept_asks.stopped(self.header)
        self.feed_turn(turns.AgentLost(detail, reason=reason))

    def end_agent(
        self, reason: str, cause: str | None, by: str | None, *, full: bool = False
    ) -> None:
        update: Json = {"sessionUpdate": "_agent", "state": "stopped", "reason": reason}
        self.append(Draft(update | {"name": self.header.agent}, cause, by), full=full)
        self.feed_agent(messages.EndWanted())

    def resumes_at(self) -> float | None:
        """Return when a prompt that hit a rate limit is sent again, in milliseconds of the epoch;
        None if none is."""
        waits = kept_asks.away(self.header) or budgets.open_ask(self.header)
        if self.effects or self.turn.phase != "idle" or waits:
            return None
        return rate_limit.resume_at(self.header, self.policy, time.time() * 1000)

    def is_idle(self) -> bool:
        """Tell whether nothing runs, waits, or is to be resumed."""
        return worker_idle.is_idle(self.header) and self.resumes_at() is None

    # --- settings --------------------------------------------------------------------------------

    def look_at_settings(self, *, slowly: bool = False) -> None:
        """Take up changes in the settings files. `slowly`: on a slow tick, only once in a while."""
        change = (self.settings.look_again if slowly else self.settings.look)(now())
        if isinstance(change, str):
            self.append(broken(change))
        elif change is not None:
            self.in_force, self._profile = change, None
            self.journal.chunks.window = self.policy.chunk_window
            self.tell_settings()

    def tell_settings(self) -> None:
        """Log which settings wait for the user and which have no effect; each once in a session."""
        draft = news(self.header, self.in_force)
        if draft is not None:
            self.append(draft)

    # --- the agent's next start ------------------------------------------------------------------

    def _wish(self) -> messages.Wish:
        header, argv, profile = self.header, self.argv(), self.profile()
        known, confirm, remote = (
            header.agent_session,
            header.confirm_chosen[0],
            self.extras().remote,
        )
        return messages.Wish(
            name=header.agent,
            argv=argv,
            cwd=remote.cwd or self.sandbox.to_agent(header.cwd),
            roots=[] if remote.cwd else [*map(self.sandbox.to_agent, header.roots)],
            mcp_servers=self.servers.given(header.mcp_servers),
            stored=known["id"] if known and known["name"] == header.agent else None,
            cold=registry.starts_slowly(argv) or registry.is_own(argv),  # whose SDK has to load
            offers=profiles.offers_of(profile),
            chosen=chosen_with(header.wanted, self.saved_model)
            | {"confirm": modes.for_agent(confirm, header.unattended)},
            profile=profile,
            known_modes=profiles.known_modes(profile),
            version=rookery.__version__,
            install=registry.install_line(header.agent, argv),
            guard=self._guard(),
            has_history=header.turn > (header.state != "idle"),
            unloaded=imported.is_unloaded(header),
            fork=lenient.integer(known, "before"),
        )

    def extras(self) -> Extras:
        return self.config.extras.get(self.header.agent, Extras())

    def _guard(self) -> str:
        """Return the guard of the agent that runs, or of the one that would be started now; "" if
        it has no process here."""
        if address_of(self.argv()):
            return ""
        if self.agent.phase in ("absent", "ending"):
            self.fence.confine(self._is_confined())
        return self.fence.guard

    def _is_confined(self) -> bool:
        """Tell whether the agent is confined; in a sandbox it always is: it gains nothing there."""
        return self.sandbox.kind != NONE or self.header.agent not in self.config.unconfined

    def _subject(self) -> Subject:
        environment = self.surroundings.environment
        argv = programs.located(self.argv(), environment, self.config.node_path)
        environment = programs.beside(argv, {**environment, **self.extras().env})
        servers = self.servers.given(self.header.mcp_servers)
        return Subject(argv, environment, self.profile(), self.config.sandbox, servers)

    def profile(self) -> profiles.Profile:
        """Return the agent's profile, looked up once per agent: every update needs it."""
        header = self.header
        info = self.agent.info or header.info
        key = (header.agent, header.argv, lenient.text(info, "name"))
        if self._profile is None or self._profile[0] != key:
            fresh = profiles.profile_of(header.agent, self.argv(), info)
            if address_of(self.argv()):
                fresh = profiles.at_address(fresh, self.extras().remote.offers)
            self._profile = (key, fresh)
        return self._profile[1]

    def argv(self) -> list[str]:
        """Return the command that the session was created with, if any, else the one that its
        agent's name stands for today."""
        header = self.header
        if header.argv:
            return header.argv
        try:
            return registry.resolve(header.agent, self.config.agents).argv
        except registry.UnknownAgent:
            return []


def _turn_of(header: Header) -> turns.Turn:
    queue = tuple(
        Queued(item["id"], item["prompt"], placeless=item.get("placeless") is True)
        for item in header.queue
    )
    held = bool(queue) and header.reason != "end_turn"
    resumed = lenient.integer(header.rate_limit, "resumed") or 0
    return turns.Turn(n=header.turn, queue=queue, held=held, resumed=resumed)


class Journal:
    def __init__(self, writer: Writer, chunks: Lanes) -> None:
        self.writer = writer
        self.trouble: StoreError | None = None
        self.chunks = chunks
        self.at_least: Callable[[], int] = lambda: 0
        """Tokens that the running turn has surely used."""
        self._drafts: list[Draft] = []
        self._full = False
        self._last_text = ""
        self._message = ("", "")  # the last one's name, and what came before it

    def record(self, update: Json, now: float) -> None:
        """Add an update of the agent's, through the chunk window."""
        self._note(update)
        self._drafts.extend(Draft(each) for each in self.chunks.push(update, now))

    def add(self, draft: Draft, now: float, *, full: bool = False) -> None:
        """Add a draft of our own, behind everything that the agent sent before."""
        self.flush(now)
        update = draft.update
        if update["sessionUpdate"] == "_turn" and update["state"] == "idle":
            update = {**update, "last": last_line.of(self._last_text)}
            if (least := self.at_least()) > spending.total_of(update):
                update["atLeast"] = least
            draft = draft._replace(update=update)
            self._last_text = ""
        self._note(update)
        self._drafts.append(draft)
        self._full = self._full or full

    def _note(self, update: Json) -> None:
        """Keep the end of the agent's text in this turn; a call ends a line."""
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            content = update.get("content")
            if isinstance(content, dict) and isinstance(content.get("text"), str):
                if (name := lenient.text(update, "messageId")) != self._message[0]:
                    self._message = (name, self._last_text)
                before = self._message[1] if ingest.taken_back(update) else self._last_text
                self._last_text = (before + content["text"])[-last_line.KEPT :]
        elif kind in ("tool_call", "subagent_update"):
            self._last_text = (self._last_text + "\n")[-last_line.KEPT :]

    def flush(self, now: float) -> None:
        self._drafts.extend(Draft(each) for each in self.chunks.flush(now))

    def flush_words(self, now: float) -> None:
        self._drafts.extend(Draft(each) for each in self.chunks.flush_words(now))

    def commit(self) -> list[Event] | None:
        """Write the pending drafts and return their events; None if the disk accepted no write, and
        they still wait."""
        if not self._drafts:
            return []
        try:
            self._drafts = [
                draft._replace(update=pictures.kept(draft.update, self.writer.put_blob))
                for draft in self._drafts
            ]
            events = self.writer.append(self._drafts, full=self._full)
        except StoreError as error:
            if self.trouble is None:
                with suppress(OSError):  # the worker's own log is on the same disk
                    print(f"journal: {error}", file=sys.stderr, flush=True)
            self.trouble = error
            return None
        self.trouble = None
        self._drafts, self._full = [], False
        return events
