"""Performs the effects that the machines of `core` ask for, in order, with one clock.

An effect that others can see waits for the commit of every event before it (law 3). While the disk
accepts no writes, nothing moves on, and what is due waits in its order."""

import asyncio
import time
from contextlib import suppress
from functools import partial

from rookery.core import ask_timeout
from rookery.core.agent import children, messages
from rookery.core.ask import asks_of
from rookery.core.asks import kept_asks
from rookery.core.critic import loop as critic_loop
from rookery.core.json import Draft, Event, kind_of, lenient, notice
from rookery.core.turn import machine as turn_machine
from rookery.core.turn import messages as turns
from rookery.core.turn import rate_limit, watchdogs
from rookery.log.errors import StoreError
from rookery.wire import frames
from rookery.worker.agent.side import AgentSide
from rookery.worker.agent.snapshots import Snapshots
from rookery.worker.budget import BudgetWatch
from rookery.worker.clients import Clients
from rookery.worker.commands import Commands
from rookery.worker.critic import Critic
from rookery.worker.process.records import Records
from rookery.worker.process.space import Space
from rookery.worker.session import Effect, Session, now

RETRY = 1.0
"""Seconds until a commit that the disk refused is tried again."""

LOOK = 60.0
"""Seconds between two looks at the wall's clock, while something waits for it."""

OPEN = ("pending", "in_progress")


class Engine:
    def __init__(
        self,
        session: Session,
        side: AgentSide,
        clients: Clients,
        records: Records,
        snapshots: Snapshots,
    ) -> None:
        self._session = session
        self._side = side
        self._clients = clients
        self._records = records
        self._critic = Critic(session)
        self.budget = BudgetWatch(session)
        self._snapshots = snapshots
        self._commands = Commands(session, side, self.budget, snapshots)
        self._asks = ask_timeout.Clock()
        self._space = Space(session.home, self._tell)

    async def run(self) -> None:
        """Run until the session is stopped."""
        session, loop = self._session, asyncio.get_running_loop()
        while not session.stopped:
            due = self._deadline()
            timer = None if due is None else loop.call_at(due, session.wake)
            await session.woken.wait()
            session.woken.clear()
            if timer is not None:
                timer.cancel()
            if due is not None and now() >= due:
                self._tick()
            self.settle()

    def settle(self) -> None:
        """Perform what is due and commit it, command after command."""
        session = self._session
        session.stirred.set()
        while self._perform_due() and not session.stopped:
            if not self._side.kept.look() and not self._commands.handover.conclude():
                if not session.commands or self._commands.rewind.under_way:
                    break
                session.look_at_settings()
                self._commands.execute(*session.commands.popleft())
        trouble = session.journal.trouble
        self._side.link.hold(held=trouble is not None)
        if trouble is not None:  # with every try, so that a client that comes later hears it too
            self._clients.tell(frames.trouble(type(trouble).__name__, str(trouble)))
        self._space.look(trouble)

    # --- effects ---------------------------------------------------------------------------------

    def _perform_due(self) -> bool:
        """Perform due effects; False if the disk accepted no write, and the rest still waits."""
        effects = self._session.effects
        while effects:
            effect = effects[0]
            if isinstance(effect, turns.Append):
                effects.popleft()
                self._session.journal.add(effect.draft, now(), full=effect.full)
            elif self._commit():
                effects.popleft()
                self._perform(effect)
            else:
                return False
            if not effects and not self._commit():  # which may make more due
                return False
        return self._commit()

    def _perform(self, effect: Effect) -> None:
        """Perform one effect: feed another machine, or pass it to the agent or the critic."""
        match effect:
            case turns.WantAgent():
                self._session.feed_agent(messages.StartWanted())
            case turns.EndAgent():
                self._session.feed_agent(messages.EndWanted())
            case turns.AskBudget():
                self.budget.ask()
            case messages.Tell(given):
                if isinstance(given, turns.AgentReady):
                    self._side.replays.take_history()
                self._session.feed_turn(given)
                self._commands.agent_told(given)
            case critic_loop.RunCommand(turn, command):
                self._critic.run(turn, command)
            case critic_loop.EndCommand():
                self._critic.end()
            case critic_loop.Refine(text):
                self._critic.refine(text)
            case partial():
                effect()
            case turns.SendPrompt():
                self._side.perform(effect)
                self._snapshots.prompt_sent()
            case _:
                self._side.perform(effect)

    def _commit(self) -> bool:
        """Write the pending events, then show them to clients. Return False if the disk accepted no
        write."""
        session = self._session
        events = session.journal.commit()
        if events:
            session.rest = session.rest._replace(event_at=now())
            # The list first: who is told of an ask may look for it there at once.
            self._records.hear(events, session.header.cwd)
            self._records.show(session.header, events[-1].seq, events[-1].at)
            self._clients.publish(events)
            self._hear(events)
        return events is not None

    def _hear(self, events: list[Event]) -> None:
        """React to events that are in the log, whoever put them there."""
        self._session.asked.difference_update(event.cause for event in events)
        kinds = [kind_of(event.update) for event in events]
        for event, kind in zip(events, kinds, strict=True):
            heard = critic_loop.heard(event.update) if kind in ("_context", "_agent") else None
            if heard is not None:
                self._session.feed_critic(heard)
            self._snapshots.hear(event)
            if kind == "_turn" and event.update.get("state") == "idle":
                self._session.sandbox.turn_ended(self._tell)
                for text in self._session.sandbox.left():
                    self._tell(text)
        self.budget.heard(events)
        keep = self._session.policy.keep_events
        if keep and "_turn" in kinds:
            with suppress(StoreError):  # a full disk: the next turn's end tries again
                self._session.journal.writer.prune(keep)

    def _tell(self, text: str) -> None:
        self._session.append(Draft(notice(text)))
        self._session.wake()

    # --- time ------------------------------------------------------------------------------------

    def _deadline(self) -> float | None:
        """Return the earliest time at which something is due; None if nothing is."""
        session = self._session
        session.watch = watchdogs.in_flight(session.watch, busy=self._in_flight(), now=now())
        self._sync_asks()
        times = (
            None if session.effects else ask_timeout.deadline(self._asks),
            session.journal.chunks.deadline,
            turn_machine.deadline(session.turn),
            session.agent.until,
            critic_loop.deadline(session.critic),
            watchdogs.deadline(session.watch, session.policy, session.profile()),
            self._side.replays.deadline,
            self._resume_due(),
            now() + RETRY if session.journal.trouble is not None else None,
        )
        return min((at for at in times if at is not None), default=None)

    def _tick(self) -> None:
        session = self._session
        held = session.journal.chunks.deadline
        if held is not None and now() >= held:
            session.journal.flush_words(now())
        outcome = watchdogs.ticked(session.watch, now(), session.policy, session.profile())
        session.watch, barks = outcome
        session.bark(barks)
        if not session.effects:  # else the disk is full, and an answer may be on its way to it
            self._close_late_asks()
        self._resume()
        self._side.tick()
        session.feed_turn(turns.Tick())
        session.feed_agent(messages.Tick())
        session.feed_critic(critic_loop.Tick())

    def _in_flight(self) -> bool:
        header = self._session.header
        tools = any(tool[1] in OPEN for tool in header.tools.values())
        waits = self._side.terminals.waited_for() or self._side.link.is_away()
        return tools or children.are_busy(header) or bool(kept_asks.live(header)) or waits

    def _sync_asks(self) -> None:
        session = self._session
        names, limit = kept_asks.live(session.header), session.policy.ask_timeout
        self._asks = ask_timeout.synced(self._asks, names, now(), limit, attached=session.attached)

    def _close_late_asks(self) -> None:
        """Close asks not answered in time: the agent gets an answer, and the log says why."""
        self._sync_asks()
        session, limit = self._session, self._session.policy.ask_timeout
        for name in ask_timeout.expired(self._asks, now()):
            answer, notice = ask_timeout.timed_out(asks_of(session.header)[name], limit)
            session.append(answer.draft, full=True)
            session.append(notice)
            session.then(self._side.asks.reply, name, answer.reply)

    def _resume_due(self) -> float | None:
        """Return when to check next for a turn to resume. It is at most LOOK seconds away: while a
        machine sleeps, this clock stops, but the world's does not."""
        at = self._session.resumes_at()
        return None if at is None else now() + min(LOOK, max(0.0, at / 1000 - time.time()))

    def _resume(self) -> None:
        at = self._session.resumes_at()
        if at is not None and time.time() * 1000 >= at:
            prompt = list(lenient.mappings(self._session.header.rate_limit, "prompt"))
            given = turns.Prompted("", prompt, rate_limit.BY, rate_limit.ORIGIN)
            self._session.feed_turn(given)
