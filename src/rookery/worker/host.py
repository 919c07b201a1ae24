"""The session host: it *is* the session while that is awake. Holds the lock, speaks ACP to one
agent, listens to clients, and lives until someone ends it.

Everything here happens on one thread, one input at a time: messages of the agent in wire order,
commands in the order of their arrival, time-outs.
"""

import asyncio
import os
import sys
from collections import deque
from contextlib import suppress

from rookery.build import build
from rookery.client.config.in_force import InForce
from rookery.core.agent import messages
from rookery.core.agent.chunks import Chunks
from rookery.core.asks import kept_asks
from rookery.core.critic import loop
from rookery.core.json.events import Draft, Event, Json, kind_of
from rookery.core.turn import idle as turn_idle
from rookery.core.turn import messages as turns
from rookery.core.vendors.profiles import Profile
from rookery.home import paths, scratch
from rookery.home.log_rotation import turn_over
from rookery.log.errors import StoreError
from rookery.log.store import Writer
from rookery.processes import tree
from rookery.processes.fence import Fence
from rookery.wire import frames
from rookery.worker.agent.environment import Surroundings
from rookery.worker.agent.side import AgentSide
from rookery.worker.clients import Clients
from rookery.worker.commands import Desk
from rookery.worker.critic import Critic
from rookery.worker.engine import Effect, Engine, now
from rookery.worker.journal import Journal
from rookery.worker.policy.settings_watch import SettingsWatch, Source, news, notice
from rookery.worker.process.neighbours import Neighbours
from rookery.worker.process.records import Records, about_worker, wall_clock
from rookery.worker.process.upkeep import OFTEN, Pace
from rookery.worker.sender import Sender

BREATH = 0.02
"""Seconds between two steps of what can wait."""


class Host:
    def __init__(
        self,
        directory: str,
        writer: Writer,
        source: Source,
        found: InForce,
        surroundings: Surroundings,
    ) -> None:
        config = found.config
        self._policy = config.policy
        self._stopped = asyncio.Event()
        self._commands: deque[tuple[Json, Sender]] = deque()
        self._adopted = tree.Adopted()
        self._pace = Pace()
        self._rest = turn_idle.Rest(event_at=now(), left_at=now())
        self._journal = Journal(writer, Chunks(config.policy.chunk_window), self._committed)
        home, socket = os.path.dirname(os.path.dirname(directory)), paths.socket_path(directory)
        self._home = home
        self._clients = Clients(
            socket,
            home,
            self._command,
            self._welcome,
            lambda: writer.last_seq,
            self._clients_changed,
        )
        self._records = Records(directory, about_worker(socket, self._clients.control))
        confined = writer.header["agent"] not in config.unconfined
        self._fence = Fence(home, confined=confined)
        surroundings = surroundings._replace(fence=self._fence)
        self._engine = Engine(
            self._journal,
            config.policy,
            self._wish,
            self._profile,
            self._calls_open,
            lambda: self._rest.left_at is None,
            self._perform,
            self._settle,
        )
        self._log = os.path.join(directory, paths.WORKER_LOG)
        self._was_away = turn_idle.is_put_away(writer.header, wall_clock())
        self._neighbours = Neighbours(directory, writer.header)
        self._side = AgentSide(
            self._engine,
            self._records,
            found,
            surroundings,
            self._clients,
            directory,
            self._settle,
            self._acted,
        )
        self._critic = Critic(self._engine, surroundings, config.critic, self._settle)
        self._engine.overhear = self._critic.overhear
        self._desk = Desk(self._engine, self._side, directory, self._settle, self._begin_stop)
        self._found = found
        self._settings = SettingsWatch(source, found, self._configure, self._misconfigured)
        self._side.look = self._look_at_settings

    # --- life ------------------------------------------------------------------------------------

    async def start(self) -> str:
        """Ready for commands; returns the socket's path."""
        writer, header = self._journal.writer, self._journal.header
        self._records.note(agent=header["agent"], argv=self._side.argv(), agentPid=0)
        self._records.show(header, writer.last_seq, writer.last_at, force=True)
        await self._clients.listen()
        return self._clients.path

    async def run(self) -> None:
        """Until someone stops it. Whatever way it ends, nothing that it started lives on."""
        upkeep = asyncio.create_task(self._upkeep(), name="upkeep")
        marking = asyncio.create_task(self._mark(), name="marks in an older log")
        self._look_around()
        self._tell_settings()
        self._settle()  # for what a worker before this one waited for, and had asked
        self._send_placeless()
        try:
            await self._stopped.wait()
        finally:
            upkeep.cancel()
            marking.cancel()
            self._engine.stop_clock()
            await self._side.link.close(self._policy.stop_grace)
            self._look_at_settings()  # the next worker shall know what this one's agent wrote last
            self._journal.commit()
            self._clients.close()
            self._neighbours.leave()
            scratch.sweep(self._home)  # of our own agent, which may have been killed
            self._fence.close()
            self._records.note(ended=wall_clock())
            self._drop_empty_logs()

    def _drop_empty_logs(self) -> None:
        """What neither we nor the agent wrote anything to (row A3)."""
        for name in (paths.WORKER_LOG, paths.AGENT_LOG):
            path = os.path.join(os.path.dirname(self._log), name)
            with suppress(OSError):
                if not os.path.getsize(path):
                    os.unlink(path)

    def _send_placeless(self) -> None:
        """What came while no more workers might be awake (row W9), behind what is asked."""
        if not kept_asks.away(self._journal.header):
            self._engine.feed_turn(turns.Freed(place=True))
            self._settle()

    def stop(self, reason: str) -> None:
        """End the turn, the agent and then this worker (row W4)."""
        if not self._stopped.is_set():
            self._begin_stop(reason)
            self._settle()

    def _begin_stop(self, reason: str, cause: str | None = None, by: str | None = None) -> None:
        end = kept_asks.stopped(self._journal.header)
        self._engine.feed_turn(turns.AgentLost(f"stopped ({reason})", reason=end))
        self._critic.feed(loop.Stopped())
        update: Json = {"sessionUpdate": "_agent", "state": "stopped", "reason": reason}
        update["name"] = self._journal.header["agent"]
        self._engine.append(Draft(update, cause, by), full=True)
        self._engine.feed_agent(messages.EndWanted())
        self._stopped.set()

    async def _mark(self) -> None:
        """What an earlier build wrote opens at once from now on; a step at a time, between all
        else."""
        for _ in iter(self._journal.writer.mark_more, False):
            await asyncio.sleep(BREATH)

    async def _upkeep(self) -> None:
        """Slow checks: whether to rest, the socket's name, the directory, orphans that fell to
        us."""
        while True:
            await self._next_look()
            self._adopted.reap()
            self._look_around()
            if self._settings.look_again(now()):
                self._settle()
            due = self._rest_due()
            if due is not None and now() >= due[0]:
                self.stop(due[1])
            elif self._put_away():
                self.stop("archived" if self._journal.header["archived"] else "snoozed")
            elif not self._journal.writer.stands():
                print("the session's directory is gone", file=sys.stderr, flush=True)
                self._stopped.set()
            elif not self._clients.bound():
                # Where the name cannot be taken now, the next look tries again.
                with suppress(OSError, paths.PathError):
                    await self._clients.listen()

    async def _next_look(self) -> None:
        busy = self._engine.turn.phase != "idle" or self._rest.left_at is None
        unsettled = self._adopted.waits or self._settings.waits or self._journal.trouble is not None
        due = self._rest_due()
        often = min(OFTEN, self._policy.idle_stop_secs or OFTEN)
        left = None if due is None else due[0] - now()
        await self._pace.next_look(at_rest=not busy and not unsettled, due=left, often=often)

    def stir(self) -> None:
        """A child ended, or something else happened that a look may bear on."""
        self._pace.stir()

    def _rest_due(self) -> tuple[float, str] | None:
        waits = self._engine.resumes_at() is not None
        idle = turn_idle.is_idle(self._journal.header) and not waits
        return turn_idle.deadline(self._rest, self._policy, idle=idle)

    def _put_away(self) -> bool:
        """While this worker lives: one that was woken for a session that was away stays."""
        away = turn_idle.is_put_away(self._journal.header, wall_clock())
        self._was_away = self._was_away and away
        return away and self._engine.turn.phase == "idle" and not self._was_away

    def _look_around(self) -> None:
        """Who else works in this directory; and whether our own words have grown too many."""
        if not self._journal.writer.stands():
            return  # the session was deleted: nothing is made in its place
        attended = self._rest.left_at is None
        for told in self._neighbours.look(attended or self._engine.turn.phase != "idle"):
            self._engine.append(told)
            self._settle()
        with suppress(OSError):
            turn_over(self._log)

    # --- what happens ----------------------------------------------------------------------------

    def _settle(self) -> None:
        """Perform what is due and commit it, command after command; then set the clock."""
        while self._engine.perform_due() and not self._stopped.is_set():
            if not self._side.kept.look() and not self._desk.memory.conclude():
                if not self._commands:
                    break
                self._desk.execute(*self._commands.popleft())
        trouble = self._journal.trouble
        self._side.link.hold(held=trouble is not None)
        if trouble is not None:  # said with every try, so that who comes later hears it too
            self._clients.tell(frames.trouble(type(trouble).__name__, str(trouble)))
        if self._stopped.is_set():
            self._engine.stop_clock()
        else:
            self._engine.set_clock()

    def _wish(self) -> messages.Wish:
        return self._side.wish()

    def _profile(self) -> Profile:
        return self._side.profile()

    def _calls_open(self) -> bool:
        return self._side.calls_open()

    def _acted(self) -> None:
        self._critic.acted()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case turns.WantAgent():
                self._engine.feed_agent(messages.Wanted())
            case turns.EndAgent():
                self._engine.feed_agent(messages.EndWanted())
            case messages.Tell(given):
                self._engine.feed_turn(given)
                self._desk.agent_told(given)
            case loop.RunCommand() | loop.EndCommand() | loop.Refine():
                self._critic.perform(effect)
            case _:
                self._side.perform(effect)

    def _committed(self, events: list[Event]) -> None:
        self._pace.stir()
        self._rest = self._rest._replace(event_at=now())
        self._clients.publish(events)
        self._critic.committed(events)
        self._prune(events)
        self._records.show(self._journal.header, events[-1].seq, events[-1].at)

    def _prune(self, events: list[Event]) -> None:
        """At a turn's end, where a person wants it."""
        keep = self._policy.keep_events
        if keep and any(kind_of(event.update) == "_turn" for event in events):
            with suppress(StoreError):  # a full disk: the next turn's end tries again
                self._journal.writer.prune(keep)

    # --- clients ---------------------------------------------------------------------------------

    def _welcome(self) -> Json:
        return {
            "protocol": frames.PROTOCOL,
            "build": build(),
            "session": self._journal.header["id"],
            "seq": self._journal.writer.last_seq,
            **({"control": self._clients.control} if self._clients.control else {}),
        }

    def _clients_changed(self, count: int) -> None:
        self._pace.stir()
        self._rest = self._rest._replace(left_at=None if count else now())
        self._records.note(**{"attached" if count else "detached": wall_clock()})
        if not self._stopped.is_set():
            self._engine.set_clock()

    # --- settings --------------------------------------------------------------------------------

    def _configure(self, found: InForce) -> None:
        """Changed settings: what is not to wait for a person holds from here on."""
        self._pace.stir()
        self._found, config = found, found.config
        self._policy = config.policy
        self._engine.configure(config.policy)
        self._side.configure(found)
        self._critic.policy = config.critic
        self._tell_settings()

    def _tell_settings(self) -> None:
        """What waits for a person, and what in the file means nothing; each once in a session."""
        draft = news(self._engine.header, self._found)
        if draft is not None:
            self._engine.append(draft)

    def _look_at_settings(self) -> bool:
        return self._settings.look(now())

    def _misconfigured(self, why: str) -> None:
        self._engine.append(notice(why))

    def _command(self, command: Json, sender: Sender) -> None:
        self._look_at_settings()
        self._commands.append((command, sender))
        if not self._stopped.is_set():
            self._settle()
