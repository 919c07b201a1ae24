"""The session host: it *is* the session while that is awake. It puts the parts together, holds the
lock, speaks ACP to one agent, listens to clients, and lives until someone ends it."""

import asyncio
import os
import sys
from contextlib import suppress
from functools import partial

from rookery.client.config.in_force import InForce
from rookery.core.agent import imported, messages
from rookery.core.asks import kept_asks
from rookery.core.tools import calls
from rookery.core.turn import messages as turns
from rookery.core.turn import worker_idle as turn_idle
from rookery.home import paths, scratch
from rookery.home.log_rotation import turn_over
from rookery.home.seen import seen
from rookery.log.store import Writer
from rookery.processes import tree
from rookery.worker.agent.side import AgentSide
from rookery.worker.agent.snapshots import Snapshots
from rookery.worker.clients import Clients
from rookery.worker.engine import Engine
from rookery.worker.process.neighbours import Neighbours
from rookery.worker.process.records import Records, about_worker, wall_clock
from rookery.worker.session import Session, now
from rookery.worker.settings_watch import Source

OFTEN = 2.0
"""Seconds between two slow checks."""

SELDOM = 15.0
"""The same while the session is idle and no client is attached, so that it costs next to nothing.
An event, a command, a connection or a child that ended cuts it short (`Session.stirred`)."""

BREATH = 0.02
"""Seconds between two steps of what can wait."""


class Host:
    def __init__(self, directory: str, writer: Writer, source: Source, settings: InForce) -> None:
        self.session = session = Session(directory, writer, source, settings)
        self._records = Records(directory, about_worker(paths.socket_path(directory)))
        self._clients = Clients(session, self._records)
        self._snapshots = snapshots = Snapshots(session)
        self._side = AgentSide(session, self._records, self._clients, snapshots)
        self._engine = Engine(session, self._side, self._clients, self._records, snapshots)
        self._adopted = tree.Adopted()
        self._neighbours = Neighbours(directory, session.header)
        self._was_away = turn_idle.is_put_away(session.header, wall_clock())

    async def start(self) -> str:
        """Get ready for commands; return the socket's path."""
        header, writer = self.session.header, self.session.journal.writer
        argv, control = self.session.argv(), self._clients.control
        self._records.note(agent=header.agent, argv=argv, agentPid=0, control=control)
        self._records.show(header, writer.last_seq, writer.last_at, force=True)
        await self._clients.listen()
        return self._clients.path

    async def run(self) -> None:
        """Run until someone stops the session. However it ends, nothing that it started
        lives on."""
        session = self.session
        upkeep = asyncio.create_task(self._upkeep(), name="upkeep")
        marking = asyncio.create_task(self._mark(), name="marks in an older log")
        try:
            self._look_around()
            session.tell_settings()
            self._engine.budget.look_again()
            self._engine.settle()  # for what a worker before this one waited for, and had asked
            if imported.is_unloaded(session.header) and session.header.queue:
                session.feed_agent(messages.StartWanted())
            elif not kept_asks.away(session.header):  # what came while no more might be awake
                session.feed_turn(turns.Freed(place=True))
            self._engine.settle()
            await self._engine.run()
        finally:
            upkeep.cancel()
            marking.cancel()
            await self._side.link.close(session.policy.stop_grace)
            await self._snapshots.close()
            await session.sandbox.taken()
            self._engine.settle()
            session.look_at_settings()  # the next worker shall know what this one's agent wrote
            self._clients.close()
            self._neighbours.leave()
            scratch.sweep(session.home)  # of our own agent, which may have been killed
            session.fence.close()
            session.sandbox.close()
            self._records.note(ended=wall_clock())
            self._drop_empty_logs()

    def _drop_empty_logs(self) -> None:
        for name in (paths.WORKER_LOG, paths.AGENT_LOG):
            path = os.path.join(self.session.directory, name)
            with suppress(OSError):
                if not os.path.getsize(path):
                    os.unlink(path)

    async def _mark(self) -> None:
        """Mark a log that an earlier build wrote, so that it opens at once from now on: a step at a
        time, between all other work."""
        for _ in iter(self.session.journal.writer.mark_more, False):
            await asyncio.sleep(BREATH)

    # --- slow checks -----------------------------------------------------------------------------

    async def _upkeep(self) -> None:
        """Check whether to rest, the socket's path, the directory, and orphans left to us."""
        session = self.session
        while True:
            await self._next_look()
            self._adopted.reap()
            self._look_around()
            session.look_at_settings(slowly=not session.header.asks)
            self._engine.budget.look_again()
            if session.effects or session.header.asks:  # which a new rule may allow
                session.wake()
            due = self._rest_due()
            if due is not None and now() >= due[0]:
                session.stop(due[1])
            elif self._put_away() and session.header.archived:
                self._side.shelf.archive(partial(session.stop, "archived"))
            elif self._put_away():
                session.stop("snoozed")
            elif not session.journal.writer.stands():
                print("the session's directory is gone", file=sys.stderr, flush=True)
                session.stopped = True
                session.wake()
            elif not self._clients.bound():
                # Where the name cannot be taken now, the next look tries again.
                with suppress(OSError, paths.PathError):
                    await self._clients.listen()

    async def _next_look(self) -> None:
        session = self.session
        busy = session.turn.phase != "idle" or session.attached
        trouble = session.journal.trouble is not None
        unsettled = self._adopted.waits or session.settings.waits or trouble
        due = self._rest_due()
        limits = session.policy.idle_stop_secs, session.policy.read_stop_secs
        often = min(OFTEN, *(each or OFTEN for each in limits))
        longest = SELDOM if due is None else min(SELDOM, due[0] - now())
        session.stirred.clear()
        if not busy and not unsettled and longest > often:
            try:
                async with asyncio.timeout(longest):
                    await session.stirred.wait()
            except TimeoutError:
                return
        await asyncio.sleep(often)

    def _rest_due(self) -> tuple[float, str] | None:
        session = self.session
        idle = session.is_idle()
        done = idle and turn_idle.is_done_with(session.header, seen(session.directory))
        return turn_idle.deadline(session.rest, session.policy, idle=idle, done=done)

    def _put_away(self) -> bool:
        """Tell whether the session was archived or snoozed while this worker lives. A worker that
        was woken for a session already put away stays."""
        away = turn_idle.is_put_away(self.session.header, wall_clock())
        self._was_away = self._was_away and away
        return away and self.session.turn.phase == "idle" and not self._was_away

    def _look_around(self) -> None:
        """Look who else works in this directory, and whether our own log has grown too long."""
        session = self.session
        if not session.journal.writer.stands():
            return  # the session was deleted: nothing is made in its place
        header = session.header
        idle = session.turn.phase == "idle"
        quiet = idle or kept_asks.unanswered(header) or calls.unfinished(header)  # it may ask yet
        for draft in self._neighbours.look(0 if quiet else header.turn):
            session.append(draft)
        with suppress(OSError):
            turn_over(os.path.join(session.directory, paths.WORKER_LOG))
