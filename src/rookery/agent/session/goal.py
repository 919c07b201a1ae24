"""`/goal`: the turn goes on until a judge finds that the goal is reached, or for a number of
rounds.

Rounds and verdicts are the SDK's; a turn of ours asks, shows and cancels like any other."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from openhands.sdk import LLM, Message, TextContent
from openhands.sdk.llm import content_to_str

from rookery.agent.conversation.assembly import llm_of
from rookery.agent.conversation.choices import PLAN
from rookery.agent.conversation.steps import Conversation
from rookery.agent.provider.failures import failure_of
from rookery.agent.provider.surrogates import whole
from rookery.agent.session import asks
from rookery.agent.session.models import Profile
from rookery.agent.session.slash_commands import BY_NAME
from rookery.core import budgets
from rookery.core.json import Json, lenient

if TYPE_CHECKING:
    from openhands.sdk.conversation.goal import GoalController, GoalStep, GoalVerdict

    from rookery.agent.session.session import Session
    from rookery.agent.session.slash_commands import SlashCommand

ROUNDS = 10
USAGE = "goal"
MAX_MISSING_LENGTH = 400
"""Characters of what is missing, for the user."""


UNREADABLE = "I could not judge whether the goal is reached: the judge's answer is not a verdict."


class NoVerdict(Exception):
    """The judge's answer was not a verdict, twice."""


class Judge:
    """The judging model, with the interface that the SDK's judge calls."""

    stream = False

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def completion(self, messages: list[Any]) -> Any:
        """Ask for a verdict, also of a model without that API. Raises NoVerdict: the SDK would take
        anything for "not reached", and go on to the last round; and the word "false" for true."""
        for _ in range(2):
            answer = self._llm.generate(messages=messages)
            verdict = verdict_in("\n".join(content_to_str(answer.message.content)))
            if verdict is not None:
                text = TextContent(text=json.dumps(verdict))
                message = Message(role="assistant", content=[text])
                return answer.model_copy(update={"message": message})
        raise NoVerdict


def verdict_in(text: str) -> Json | None:
    """Parse a judge's verdict into the SDK's form; None if there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        reply = json.loads(text[start : end + 1])
    except ValueError:
        return None
    if not isinstance(reply, dict):
        return None
    score, complete = reply.get("score"), reply.get("complete")
    if isinstance(complete, str) and complete.strip().lower() in ("true", "false"):
        complete = complete.strip().lower() == "true"
    known = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    if not known and not isinstance(complete, bool):
        return None
    done = complete if isinstance(complete, bool) else score == 1
    missing = str(reply.get("missing") or "")
    return {"score": score if known else float(done), "complete": done, "missing": missing}


class Goal:
    """A session's goal during one turn, stored with it: a continued run goes on with its goal."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._controller: GoalController | None = None
        self._by_critic = False
        self._judged: Json | None = None

    @property
    def judged(self) -> Json | None:
        """The verdict of the critic's own judge, for the critic, which need not ask it again; {} if
        it gave none. None: somebody else judged, or nobody."""
        return self._judged if self._by_critic else None

    @property
    def is_open(self) -> bool:
        return self._controller is not None

    def pursue(self, objective: str, rounds: int = 0) -> None:
        """Begin to pursue a goal. `rounds`: those before a restart."""
        from openhands.sdk.conversation.goal import GoalController

        judge: Any = Judge(self._llm())
        self._controller = GoalController(objective, judge, max_iterations=ROUNDS)
        self._controller.iteration = max(0, min(rounds, ROUNDS - 1))
        self._keep()

    def resume(self) -> None:
        """Go on with the goal that was left."""
        left = self._session.record.goal
        objective = lenient.text(left, "objective")
        if objective.strip():
            self.pursue(objective, int(lenient.number(left, "rounds") or 0))

    def begin(self, command: "SlashCommand | None", text: str) -> None:
        """Begin with a prompt, which states a goal, goes on with the one that was left (after a
        budget was raised, or a plan made), or ends it. A command that changes nothing leaves it
        alone."""
        states = command is not None and bool(command.rest) and command.name in ("goal", "plan")
        goes_on = command.name == "go" if command else text == budgets.CONTINUE[0]["text"]
        known = BY_NAME.get(command.name) if command is not None else None
        if goes_on:
            self.resume()
        elif states or known is None or known.changes:
            self.give_up()
        if command is not None and states and command.name == "goal":
            self.pursue(command.rest)

    def end(self, *, stopped: bool) -> None:
        """End with its turn. A goal is kept for the next turn if this one was `stopped`, but not by
        the user, or if it is only planned."""
        planned = self._session.choices.wanted.mode == PLAN
        if self._controller is not None and not stopped and not planned:
            self.give_up()

    def give_up(self) -> None:
        self._controller = None
        if self._session.record.goal:
            self._session.keep(goal={})

    async def decided(self, unless_stopped: asks.UnlessStopped) -> str:
        """Decide after a run. Returns what the model is told to go on; "" if the turn ends."""
        controller, session = self._controller, self._session
        if controller is None or session.choices.wanted.mode == PLAN:
            return ""
        # Nobody waits for a judge after a cancel: it changes nothing.
        work = asyncio.get_running_loop().run_in_executor(None, self._judge, controller)
        judged: tuple[str, str] = await unless_stopped(work)
        report, followup = judged
        session.say(f"\n\n{report}\n\n")
        if followup:
            self._keep()
        else:
            self.give_up()
        return followup

    def _judge(self, controller: "GoalController") -> tuple[str, str]:
        """Return the texts for the user and for the model ("": the goal is over). Blocks."""
        events = list(self._session.running.state.view.events)  # what a model's window holds
        self._judged = {}
        try:
            step = controller.on_run_finished(events)
        except NoVerdict:
            return UNREADABLE, ""
        except Exception as error:  # noqa: BLE001 - a judge that fails ends the goal alone
            return f"I could not judge whether the goal is reached. {failure_of(error).message}", ""
        self._judged = _as_critic(_verdict_of(step))
        return _text(step, controller.iteration), getattr(step, "followup", "")

    def _keep(self) -> None:
        """Store the goal after a round."""
        if (now := self._controller) is not None:
            self._session.keep(goal={"objective": now.objective, "rounds": now.iteration})

    def _llm(self) -> LLM:
        """Return the critic's judge, else the session's own model; its usage is counted."""
        session = self._session
        settings, wanted = session.models.settings(), session.choices.wanted
        known = settings.critic.judge in settings.profiles
        self._by_critic = known
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


def _verdict_of(step: "GoalStep") -> "GoalVerdict":
    from openhands.sdk.conversation.goal import GoalDone

    return step.outcome.verdict if isinstance(step, GoalDone) else step.verdict


def _as_critic(verdict: "GoalVerdict") -> Json:
    missing: list[Json] = [{"name": whole(verdict.missing), "kind": "behavioural"}]
    issues = missing if verdict.missing else []
    return {"score": verdict.score, "source": "judge", "issues": issues}


def _text(step: "GoalStep", rounds: int) -> str:
    from openhands.sdk.conversation.goal import GoalDone

    verdict = _verdict_of(step)
    detail = " ".join(whole(verdict.missing).split())[:MAX_MISSING_LENGTH]
    missing = f" Missing: {detail}" if detail else ""
    count = "1 round" if rounds == 1 else f"{rounds} rounds"
    if not isinstance(step, GoalDone):
        return f"Goal, round {rounds} of {ROUNDS}: not reached yet.{missing}"
    if step.outcome.status == "complete":
        return f"The goal is reached, after {count}."
    return f"The goal is not reached after {count}, so I stop here.{missing}"
