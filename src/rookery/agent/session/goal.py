"""`/goal`: the turn goes on until a judge finds that the goal is reached, or for so many rounds.

Rounds and verdicts are the SDK's; a turn of ours asks, shows and cancels like any other."""

import asyncio
from typing import TYPE_CHECKING, Any

from openhands.sdk import LLM

from rookery.agent.conversation.build import llm_of
from rookery.agent.conversation.choices import PLAN
from rookery.agent.conversation.steps import Conversation
from rookery.agent.provider.failures import failure_of
from rookery.agent.provider.surrogates import whole
from rookery.agent.session import asks
from rookery.agent.session.models import Profile
from rookery.core.json import lenient

if TYPE_CHECKING:
    from openhands.sdk.conversation.goal import GoalController, GoalStep

    from rookery.agent.session.session import Session

ROUNDS = 10
USAGE = "goal"
LONGEST = 400
"""Characters of what is missing, for the user."""


class Judge:
    """The model that judges, as the SDK's judge calls it."""

    stream = False

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def completion(self, messages: list[Any]) -> Any:
        """Also for a model without that API."""
        return self._llm.generate(messages=messages)


class Goal:
    """A session's, during one turn. Kept with it: a run that is continued goes on with its goal."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._controller: GoalController | None = None

    def pursued(self) -> bool:
        return self._controller is not None

    def pursue(self, objective: str, rounds: int = 0) -> None:
        """`rounds`: those before a restart."""
        from openhands.sdk.conversation.goal import GoalController

        judge: Any = Judge(self._llm())
        self._controller = GoalController(objective, judge, max_iterations=ROUNDS)
        self._controller.iteration = max(0, min(rounds, ROUNDS - 1))
        self._keep()

    def resume(self) -> None:
        """With the goal that was left."""
        left = self._session.record.goal
        objective = lenient.text(left, "objective")
        if objective.strip():
            self.pursue(objective, int(lenient.number(left, "rounds") or 0))

    def give_up(self) -> None:
        self._controller = None
        if self._session.record.goal:
            self._session.keep(goal={})

    async def decided(self, unless_stopped: asks.UnlessStopped) -> str:
        """After a run: what the model is told to go on; "": nothing, the turn ends."""
        controller, session = self._controller, self._session
        if controller is None or session.choices.wanted.mode == PLAN:
            return ""
        # Nobody waits for a judge after a cancel: it changes nothing.
        work = asyncio.get_running_loop().run_in_executor(None, self._judge, controller)
        judged: tuple[str, str] = await unless_stopped(work)
        words, followup = judged
        session.say(f"\n\n{words}\n\n")
        if followup:
            self._keep()
        else:
            self.give_up()
        return followup

    def _judge(self, controller: "GoalController") -> tuple[str, str]:
        """What to tell the user, and the model ("": it is over). Blocks."""
        events = list(self._session.running.state.view.events)  # what a model's window holds
        try:
            step = controller.on_run_finished(events)
        except Exception as error:  # noqa: BLE001 - a judge that fails ends the goal alone
            return f"I could not judge whether the goal is reached. {failure_of(error).message}", ""
        return _words(step, controller.iteration), getattr(step, "followup", "")

    def _keep(self) -> None:
        """After a round."""
        if (now := self._controller) is not None:
            self._session.keep(goal={"objective": now.objective, "rounds": now.iteration})

    def _llm(self) -> LLM:
        """The critic's judge, else the session's own model; its use is counted."""
        session = self._session
        settings, wanted = session.models.settings(), session.choices.wanted
        known = settings.critic.judge in settings.profiles
        model = session.models.chosen(settings.critic.judge if known else wanted.model)
        assert isinstance(model, Profile), "the session has one"
        quiet = wanted._replace(streaming=False, effort="default")
        llm = llm_of(model, quiet, session.on_retry, USAGE, session.fallbacks)
        _count(session.running, llm)
        return llm


def _count(conversation: Conversation, llm: LLM) -> None:
    known = conversation.llm_registry
    before = known.get(USAGE) if USAGE in known.list_usage_ids() else None
    known.remove(USAGE)
    known.add(llm)
    if before is not None:
        llm.restore_metrics(before.metrics)


def _words(step: "GoalStep", rounds: int) -> str:
    from openhands.sdk.conversation.goal import GoalDone

    verdict = step.outcome.verdict if isinstance(step, GoalDone) else step.verdict
    said = " ".join(whole(verdict.missing).split())[:LONGEST]
    missing = f" Missing: {said}" if said else ""
    count = "1 round" if rounds == 1 else f"{rounds} rounds"
    if not isinstance(step, GoalDone):
        return f"Goal, round {rounds} of {ROUNDS}: not reached yet.{missing}"
    if step.outcome.status == "complete":
        return f"The goal is reached, after {count}."
    return f"The goal is not reached after {count}, so I stop here.{missing}"
