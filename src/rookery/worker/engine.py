"""The shell around the machines of `core`: inputs in, effects out, in order, with one clock.

An effect that others can see waits for the commit of every event before it (law 3). While the disk
takes nothing, nothing moves on, and what is due waits in its order.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable

from rookery.core import ask_timeout
from rookery.core.agent import machine as agent_machine
from rookery.core.agent import messages
from rookery.core.asks import kept_asks
from rookery.core.critic import loop
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json
from rookery.core.limits import Policy
from rookery.core.turn import machine as turn_machine
from rookery.core.turn import messages as turns
from rookery.core.turn import rate_limit, watchdogs
from rookery.core.turn.queue import Queued
from rookery.core.units import duration
from rookery.core.vendors.profiles import Profile
from rookery.worker.asks import Reply
from rookery.worker.journal import Journal

RETRY = 1.0
"""Seconds until a commit that the disk refused is tried again."""

LOOK = 60.0
"""Seconds between two looks at the wall's clock, while something waits for it."""

OPEN = ("pending", "in_progress")

type Effect = turns.Effect | messages.Effect | loop.Effect | Reply
type Overhear = Callable[[turns.Input, list[turns.Effect]], list[Effect]]


def now() -> float:
    return time.monotonic()


class Engine:
    """Holds the state of both machines. Everything happens on one thread, one input at a time."""

    def __init__(
        self,
        journal: Journal,
        policy: Policy,
        wish: Callable[[], messages.Wish],
        profile: Callable[[], Profile],
        calls: Callable[[], bool],
        attached: Callable[[], bool],
        perform: Callable[[Effect], None],
        on_tick: Callable[[], None],
    ) -> None:
        self.journal = journal
        self.policy = policy
        self.turn = _turn_of(journal.header)
        self.agent = messages.Agent(past=_past_of(journal.header))
        self.overhear: Overhear = lambda _given, effects: list(effects)
        """Who hears what the turn machine wants done, and adds to it: the critic."""
        self._wish = wish
        self._profile = profile
        self._calls = calls
        self._attached = attached
        self._watch = watchdogs.Watch()
        self._asks = ask_timeout.Clock()
        self._perform = perform
        self._on_tick = on_tick
        self._effects: deque[Effect] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def header(self) -> Json:
        return self.journal.header

    def configure(self, policy: Policy) -> None:
        """Numbers that hold from now on; the clock is set by them at the next settling."""
        self.policy = policy
        self.journal.widen(policy.chunk_window)

    def feed_turn(self, given: turns.Input) -> None:
        before = self.turn
        self.turn, effects = turn_machine.step(before, given, now(), self.policy)
        self._effects.extend(self.overhear(given, effects))
        if self.turn.phase == "running" and before.phase != "running":
            self._watch = watchdogs.began(now())
        elif self.turn.phase != "running":
            self._watch = watchdogs.ended(self._watch)

    def feed_agent(self, given: messages.Input) -> None:
        self.agent, effects = agent_machine.step(
            self.agent, given, now(), self._wish(), self.policy
        )
        self._effects.extend(effects)

    def do(self, effect: Effect) -> None:
        """After all that is due already."""
        self._effects.append(effect)

    def do_next(self, effects: Iterable[Effect]) -> None:
        """Before all that is due already."""
        self._effects.extendleft(reversed(list(effects)))

    def append(self, draft: Draft, *, full: bool = False) -> None:
        self.do(turns.Append(draft, full))

    def said(self, update: Json) -> None:
        """News of the agent's; behind whatever still waits for the disk."""
        self._watch, barks = watchdogs.heard(self._watch, update, now(), self._profile())
        self._bark(barks)
        if self._effects:
            self.append(Draft(update))
        else:
            self.journal.said(update, now())

    def perform_due(self) -> bool:
        """False: the disk took nothing, and what is due still waits."""
        while self._effects:
            effect = self._effects[0]
            if isinstance(effect, turns.Append):
                self._effects.popleft()
                self.journal.add(effect.draft, now(), full=effect.full)
            elif self.journal.commit():
                self._effects.popleft()
                self._perform(effect)
            else:
                return False
            if not self._effects and not self.journal.commit():  # which may make more due
                return False
        return self.journal.commit()

    def _bark(self, barks: list[watchdogs.Effect]) -> None:
        """What a watchdog has to say goes into the log, with its reason."""
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

    def _in_flight(self) -> bool:
        tools = self.header["_tools"].values()
        return (
            bool(kept_asks.live(self.header)) or self._calls() or any(t[1] in OPEN for t in tools)
        )

    def set_clock(self) -> None:
        """For the earliest of what is due by time."""
        self.stop_clock()
        self._watch = watchdogs.in_flight(self._watch, busy=self._in_flight(), now=now())
        self._sync_asks()
        times = [
            None if self._effects else ask_timeout.deadline(self._asks),
            self.journal.deadline(),
            turn_machine.deadline(self.turn),
            self.agent.until,
            watchdogs.deadline(self._watch, self.policy, self._profile()),
            self._resume_due(),
            now() + RETRY if self.journal.trouble is not None else None,
        ]
        due = [at for at in times if at is not None]
        if due:
            delay = max(0.0, min(due) - now())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _sync_asks(self) -> None:
        names, limit = kept_asks.live(self.header), self.policy.ask_timeout
        self._asks = ask_timeout.synced(self._asks, names, now(), limit, attached=self._attached())

    def _close_late_asks(self) -> None:
        """Nobody answered in time: the agent is told so, and the log why."""
        self._sync_asks()
        for name in ask_timeout.expired(self._asks, now()):
            answer, notice = ask_timeout.timed_out(
                self.header["asks"][name], self.policy.ask_timeout
            )
            self.append(answer.draft, full=True)
            self.append(notice)
            self.do(Reply(name, answer.reply))

    def resumes_at(self) -> float | None:
        """When a prompt that met a rate limit is sent again; milliseconds of the epoch."""
        if self._effects or self.turn.phase != "idle" or kept_asks.away(self.header):
            return None
        return rate_limit.resume_at(self.header, self.policy)

    def _resume_due(self) -> float | None:
        """Looked at once in a while: a machine that sleeps stops this clock, not the world's."""
        at = self.resumes_at()
        return None if at is None else now() + min(LOOK, max(0.0, at / 1000 - time.time()))

    def _resume(self) -> None:
        at = self.resumes_at()
        if at is not None and time.time() * 1000 >= at:
            prompt = list(lenient.mappings(self.header["rateLimit"], "prompt"))
            self.feed_turn(turns.Prompted("", prompt, rate_limit.BY, rate_limit.ORIGIN))

    def stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        held = self.journal.deadline()
        if held is not None and now() >= held:
            self.journal.flush(now())
        self._watch, barks = watchdogs.ticked(self._watch, now(), self.policy, self._profile())
        self._bark(barks)
        if not self._effects:  # else the disk is full, and an answer may be on its way to it
            self._close_late_asks()
        self._resume()
        self.feed_turn(turns.Tick())
        self.feed_agent(messages.Tick())
        self._on_tick()


def _turn_of(header: Json) -> turns.Turn:
    queue = tuple(
        Queued(item["id"], item["prompt"], placeless=item.get("placeless") is True)
        for item in header["queue"]
    )
    held = bool(queue) and header["reason"] != "end_turn"
    resumed = lenient.integer(header["rateLimit"], "resumed") or 0
    return turns.Turn(n=header["turn"], queue=queue, held=held, resumed=resumed)


def _past_of(header: Json) -> messages.Past:
    """A park outlives its worker."""
    return messages.Past(parked=header["process"]["state"] == "parked")
