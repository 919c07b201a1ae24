"""What the agent tells again is not logged again (row A4): its history when a stored session is
opened, and the prompt that it was just sent."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from rookery.core.agent import ingest, messages
from rookery.core.agent.repeats import PastTurn, Repeats, Told, is_prompt
from rookery.core.json import lenient
from rookery.core.json.events import Json, kind_of
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.worker.engine import Engine, now

RESTORES = ("session/load", "session/resume")
BEFORE_PROMPTS = ("opening", "settling", "applying")
"""Phases of an agent in which no turn can run: what is said of one is history."""

PAUSE = 0.02
"""Seconds for which the supervision need not hear again that a replay goes on."""

HELD = 1.0
"""Seconds for which an update may be held that is either history or news: a history comes in one
go."""

MOST_LOOKED_AT = 2000
"""Updates of a turn by which its replay is known to be whole."""


class Replays:
    def __init__(
        self,
        engine: Engine,
        directory: str,
        heard: Callable[[Json], None],
        settle: Callable[[], None],
    ) -> None:
        """`heard`: takes an update that is news; `settle` comes after those that were held."""
        self.replayed = 0
        """Updates since the last request of the start."""
        self._heard = heard
        self._settle = settle
        self._timer: asyncio.TimerHandle | None = None
        self._engine = engine
        self._directory = directory
        self._repeats = Repeats(self._past, self._page)
        self._told = float("-inf")
        self._last: list[Json] = []
        """What was replayed of the last turn so far, from its prompt on."""

    def called(self, method: str) -> None:
        """A request of the agent's start was sent."""
        self.replayed, self._last = 0, []
        if method in (*RESTORES, "session/new"):
            self._repeats.opened(stored=method in RESTORES)

    def sent(self, prompt: list[Json]) -> None:
        self._repeats.sent(prompt)

    def steered(self, prompt: list[Json]) -> None:
        self._repeats.steered(prompt)

    def is_cut(self) -> bool:
        """Whether a replay has not told the last turn whole: its rest may follow the answer."""
        turn = self._engine.turn
        n = turn.n - (turn.phase != "idle")
        if not self._last or n <= 0:
            return False
        with suppress(LogError):
            begun = self._engine.journal.writer.prompt_of(n)
            prompt, *rest = self._last
            if is_prompt(prompt.get("content"), list(lenient.mappings(begun, "prompt"))):
                told = Told(self._page(n), last=False)
                return not (all(told.take(each) for each in rest) and told.is_over())
            return True
        return False

    def take(self, update: Json) -> None:
        """An update came: what of it is news is heard, now or in a moment."""
        agent, is_history = self._engine.agent, ingest.is_replay(update)
        if is_history and agent.method in RESTORES and agent.phase in BEFORE_PROMPTS:
            self._replay(update)
            return
        for news in self._repeats.take(update):
            self._heard(news)
        if self._repeats.doubts and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(HELD, self._give_up)
        elif self._timer is not None and not self._repeats.doubts:
            self._timer.cancel()
            self._timer = None

    def first[**P](self, then: Callable[P, None]) -> Callable[P, None]:
        """The same, behind what is held: it would come out of order else."""

        def called(*arguments: P.args, **named: P.kwargs) -> None:
            self._release()
            then(*arguments, **named)

        return called

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for news in self._repeats.release():
            self._heard(news)

    def _give_up(self) -> None:
        self._release()
        self._settle()

    def _replay(self, update: Json) -> None:
        self.replayed += 1
        if kind_of(update) == "user_message_chunk":
            self._last = [update]
        elif 0 < len(self._last) < MOST_LOOKED_AT:
            self._last.append(update)
        if self._engine.agent.phase == "settling" and now() - self._told > PAUSE:
            self._told = now()
            self._engine.feed_agent(messages.Replayed())

    def _past(self) -> list[PastTurn]:
        """Of the conversation that the agent has: it may have begun in a turn, with a reset."""
        running, begun = self._engine.turn, self._engine.header["recap"]
        found = list[PastTurn]()
        with suppress(LogError), Reader.open(self._directory) as log:
            for event in log.of_kinds("_prompt"):
                n, prompt = event.update.get("turn"), event.update.get("prompt")
                own = running.phase != "idle" and n == running.n
                if own or not isinstance(n, int) or not isinstance(prompt, list):
                    continue
                if event.seq < begun:
                    found.clear()
                found.append(PastTurn(n, prompt))
        return found

    def _page(self, n: int) -> list[Json]:
        with suppress(LogError), Reader.open(self._directory) as log:
            wanted = (*ingest.HISTORY, "_ask")
            updates = [event.update for event in log.page(n)]
            return [update for update in updates if kind_of(update) in wanted]
        return []
