"""The critic at work: hears what becomes of turns, runs the command that judges them, and hands the
loop's prompts to the turn machine."""

import asyncio
import os
from collections.abc import Callable

from rookery.core.critic import loop as critic_loop
from rookery.core.critic import state, verdicts
from rookery.core.json.events import Draft, Event, Json, kind_of
from rookery.core.limits import CriticPolicy, Policy
from rookery.core.turn import messages as turns
from rookery.worker.agent.environment import Surroundings
from rookery.worker.agent.terminals import Terminal, end_terminal
from rookery.worker.engine import Effect, Engine, now

SHELL = "/bin/sh"


class Critic:
    def __init__(
        self,
        engine: Engine,
        surroundings: Surroundings,
        policy: CriticPolicy,
        settle: Callable[[], None],
    ) -> None:
        self.policy = policy
        """As the configuration says; a session may say otherwise."""
        self._engine = engine
        self._surroundings = surroundings
        self._settle = settle
        self._loop = critic_loop.restored(engine.header)
        self._terminal: Terminal | None = None
        self._timer: asyncio.TimerHandle | None = None

    # --- what it hears ---------------------------------------------------------------------------

    def overhear(self, given: turns.Input, effects: list[turns.Effect]) -> list[Effect]:
        """What the turn machine wants done, with what follows from it here."""
        cancelled = isinstance(given, turns.CancelWanted)
        given_up = self._step(critic_loop.CancelWanted()) if cancelled else []
        found: list[Effect] = []
        for place, effect in enumerate(effects):
            rest = effects[place + 1 :]
            found += self._overheard(effect, followed=any(_opens(each) for each in rest))
        return [*found, *given_up]

    def _overheard(self, effect: turns.Effect, *, followed: bool) -> list[Effect]:
        if not isinstance(effect, turns.Append):
            return [effect]
        heard = critic_loop.heard(effect.draft.update, followed=followed)
        if heard is None:
            return [effect]
        more = self._step(heard)
        if isinstance(heard, critic_loop.Ended) and critic_loop.follows(self._loop, more):
            marked = {**effect.draft.update, "critic": True}
            effect = effect._replace(draft=effect.draft._replace(update=marked))
        return [effect, *more]

    def committed(self, events: list[Event]) -> None:
        """A clear and a switch are told by whoever does them, in the log."""
        for event in events:
            if kind_of(event.update) in ("_context", "_agent"):
                heard = critic_loop.heard(event.update)
                if heard is not None:
                    self.feed(heard)

    def acted(self) -> None:
        self.feed(critic_loop.Acted())

    def feed(self, given: critic_loop.Input) -> None:
        for effect in self._step(given):
            self._engine.do(effect)

    def _step(self, given: critic_loop.Input) -> list[critic_loop.Effect]:
        policy = critic_loop.in_force(self.policy, self._engine.header["critic"])
        self._loop, effects = critic_loop.step(self._loop, given, now(), policy)
        return effects

    # --- what it does ----------------------------------------------------------------------------

    def perform(
        self, effect: critic_loop.RunCommand | critic_loop.EndCommand | critic_loop.Refine
    ) -> None:
        match effect:
            case critic_loop.RunCommand(turn, command):
                self._run(turn, command)
            case critic_loop.EndCommand():
                self._end()
            case critic_loop.Refine(text):
                self._refine(text)

    def _refine(self, text: str) -> None:
        """A person's prompt may have come in the meantime: it goes first."""
        turn = self._engine.turn
        if turn.phase == "idle" and not turn.queue:
            prompt = critic_loop.prompt_of(text)
            self._engine.feed_turn(turns.Prompted("", prompt, critic_loop.BY, state.ORIGIN))
        else:
            self._engine.do(critic_loop.given_up(self._loop, "a prompt came first", "interrupted"))

    def _run(self, turn: int, command: str) -> None:
        if critic_loop.deadline(self._loop) is None:  # given up before it began
            return
        policy: Policy = self._engine.policy
        cwd = self._engine.header["cwd"]
        name = "critic_" + os.urandom(6).hex()

        def log(update: Json) -> None:
            self._said(turn, terminal, update)

        fence = self._surroundings.fence
        terminal = Terminal(name, policy.terminal_keep, None, policy.chunk_window, log, fence)
        started: Json = {"sessionUpdate": "_terminal", "id": name, "state": "started"}
        try:
            terminal.start([SHELL, "-c", command], cwd, self._surroundings)
        except (OSError, ValueError) as error:
            why = f"The command could not be started in {cwd}: {error}"
            self.feed(critic_loop.Judged(turn, verdicts.unheard(why)))
            return
        self._terminal = terminal
        self._engine.append(Draft(started | {"command": command, "cwd": cwd}, None, critic_loop.BY))
        due = critic_loop.deadline(self._loop)
        assert due is not None
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(0.0, due - now()), self._tick)

    def _tick(self) -> None:
        self.feed(critic_loop.Tick())
        self._settle()

    def _said(self, turn: int, terminal: Terminal, update: Json) -> None:
        self._engine.append(Draft(update, None, critic_loop.BY))
        if update["state"] == "ended":
            status = terminal.exit_status()
            verdict = verdicts.of_exit(
                status["exitCode"], status["signal"] or "", terminal.output()
            )
            self._end()  # also what it left in the background
            self.feed(critic_loop.Judged(turn, verdict))
        self._settle()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._terminal is not None:
            end_terminal(self._terminal)
            self._terminal = None


def _opens(effect: turns.Effect) -> bool:
    """A prompt that opens a turn."""
    return isinstance(effect, turns.Append) and isinstance(
        critic_loop.heard(effect.draft.update), critic_loop.Began
    )
