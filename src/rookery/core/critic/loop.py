"""The critic loop: a turn that ended well is judged, and a poor verdict goes back to the
agent as a prompt of its own, a few times at most.

    idle ──Ended──► judging ──Judged──► idle, with a verdict; if poor: a refinement
      ▲                │
      └────────────────┘ Began, CancelWanted, Cleared, Switched, Stopped: judging is aborted

A turn changed something if a call that can write or run did so (`changes`). A
refinement that changed nothing is judged once more and is the last: the next one would
have the same result. `step` is the only function that moves a Loop; it neither waits
nor reads a clock."""

from typing import NamedTuple

from rookery.core.critic import verdicts
from rookery.core.critic.verdicts import Verdict
from rookery.core.header import Header
from rookery.core.json import Draft, Json, kind_of, lenient
from rookery.core.limits import CriticPolicy
from rookery.core.turn import messages as turns
from rookery.core.turn.messages import Append
from rookery.core.units import duration

BY = "critic"

LOOKING = frozenset({"read", "search", "think", "fetch", "switch_mode"})
"""Kinds of calls that change nothing."""
RAN = frozenset({"in_progress", "completed", "failed"})


class Loop(NamedTuple):
    phase: str = "idle"
    turn: int = 0
    """Which one is judged."""
    until: float | None = None
    """When its command is given up."""
    iteration: int = 0
    """Refinements since the user's last prompt."""
    changed: bool = False
    """The turn that runs, or ran last, changed something."""
    cancelled: bool = False
    """The user cancelled it: an agent may still call its end a good one."""
    given: Verdict | None = None
    """The agent's own verdict, while a command is asked too."""


# --- inputs ------------------------------------------------------------------------------------


class Began(NamedTuple):
    """A turn has begun."""

    origin: str = ""
    """Who sent its prompt, where that was no person."""


class Steered(NamedTuple):
    """The user's prompt entered the turn that runs."""


class Acted(NamedTuple):
    """A call of the turn changed something."""


class Ended(NamedTuple):
    turn: int
    reason: str
    meta: object = None
    """Of the prompt's answer."""
    followed: bool = False
    """The next turn has begun already: a queued prompt of the user's goes first."""


class Judged(NamedTuple):
    """The critic's command has ended."""

    turn: int
    verdict: Verdict


class CancelWanted(NamedTuple):
    pass


class Cleared(NamedTuple):
    pass


class Switched(NamedTuple):
    """The session switched to another agent."""


class Stopped(NamedTuple):
    """The worker is stopping."""


class Tick(NamedTuple):
    pass


type Input = (
    Began | Steered | Acted | Ended | Judged | CancelWanted | Cleared | Switched | Stopped | Tick
)


# --- effects -----------------------------------------------------------------------------------


class RunCommand(NamedTuple):
    """Run the critic's command; a Judged follows unless the command is ended before."""

    turn: int
    command: str


class EndCommand(NamedTuple):
    pass


class Refine(NamedTuple):
    """Pass a prompt of the critic's to the turn machine."""

    text: str


type Effect = Append | RunCommand | EndCommand | Refine


# --- the machine -------------------------------------------------------------------------------


def deadline(loop: Loop) -> float | None:
    return loop.until if loop.phase == "judging" else None


def step(loop: Loop, given: Input, now: float, policy: CriticPolicy) -> tuple[Loop, list[Effect]]:
    match given:
        case Began():
            idle, effects = _give_up(loop, "a prompt came first")
            kept = loop.iteration if given.origin else 0
            return idle._replace(iteration=kept, changed=False, cancelled=False), effects
        case Steered():
            return loop._replace(iteration=0), []
        case Acted():
            return loop._replace(changed=True), []
        case Ended():
            return _ended(loop, given, now, policy)
        case Judged() if loop.phase == "judging" and given.turn == loop.turn:
            return _conclude(loop, given.verdict, policy)
        case CancelWanted():
            idle, effects = _give_up(loop, "cancelled", "cancelled")
            return idle._replace(cancelled=True), effects
        case Cleared() | Switched():
            why = "the conversation was cleared" if given == Cleared() else "the agent was switched"
            idle, effects = _give_up(loop, why)
            return idle._replace(iteration=0), effects
        case Stopped():
            return _give_up(loop, "the worker was stopped")
        case Tick() if loop.phase == "judging" and loop.until is not None and now >= loop.until:
            late = f"The command did not end within {duration(policy.timeout)}."
            judged, effects = _conclude(loop, verdicts.unheard(late), policy)
            return judged, [EndCommand(), *effects]
    return loop, []


def _ended(loop: Loop, given: Ended, now: float, policy: CriticPolicy) -> tuple[Loop, list[Effect]]:
    if given.reason != "end_turn" or given.followed or loop.cancelled or not policy.enabled:
        return loop, []
    own = verdicts.of_answer(given.meta)
    judged = loop._replace(turn=given.turn)
    if policy.command.strip():
        asked = judged._replace(phase="judging", until=now + policy.timeout, given=own)
        first = [] if own is None else [_report(asked, own, policy, more=True)]
        return asked, [*first, RunCommand(given.turn, policy.command)]
    if own is not None:
        return _conclude(judged, own, policy)
    return loop, []


def _conclude(loop: Loop, verdict: Verdict, policy: CriticPolicy) -> tuple[Loop, list[Effect]]:
    """Log the verdict, then refine if it is poor and refinements are left."""
    heard = [each for each in (loop.given, verdict) if each is not None]
    poor = any(verdicts.triggers(each, policy) for each in heard)
    stale = loop.iteration > 0 and not loop.changed
    again = poor and policy.refine and loop.iteration < policy.iterations and not stale
    why = ""
    if poor and policy.refine and not again:
        why = "the last refinement changed nothing" if stale else "no refinements left"
    report = _report(loop, verdict, policy, again=again, why=why)
    idle = loop._replace(phase="idle", until=None, given=None)
    if not again:
        return idle, [report]
    more = idle._replace(iteration=loop.iteration + 1)
    return more, [report, Refine(verdicts.request(heard, more.iteration, policy))]


def _report(
    loop: Loop,
    verdict: Verdict,
    policy: CriticPolicy,
    *,
    again: bool = False,
    more: bool = False,
    why: str = "",
) -> Append:
    update: Json = {"sessionUpdate": "_critic", "state": "judged", "turn": loop.turn}
    update |= {"source": verdict.source, "iteration": loop.iteration, "of": policy.iterations}
    update |= {} if verdict.score is None else {"score": verdict.score}
    update["issues"] = [verdicts.to_json(issue) for issue in verdicts.in_order(verdict.issues)]
    if not verdicts.is_silent(verdict):
        update["accepted"] = not verdicts.triggers(verdict, policy)
    update |= {"refine": policy.refine, "again": again}
    update |= {"more": True} if more else {}
    update |= {"detail": why} if why else {}
    return Append(Draft(update, None, BY), full=True)


def _give_up(loop: Loop, why: str, state: str = "interrupted") -> tuple[Loop, list[Effect]]:
    if loop.phase != "judging":
        return loop, []
    idle = loop._replace(phase="idle", until=None, given=None)
    return idle, [EndCommand(), given_up(loop, why, state)]


def given_up(loop: Loop, why: str, state: str) -> Append:
    update: Json = {"sessionUpdate": "_critic", "state": state, "turn": loop.turn, "detail": why}
    update |= {"iteration": loop.iteration, "source": verdicts.COMMAND}
    return Append(Draft(update, None, BY))


# --- what it hears -----------------------------------------------------------------------------


def changes(call: Json) -> bool:
    """Whether a call, as far as it is known, changed something: it ran a command, or it wrote. A
    call of an unknown kind may have done either."""
    status, kind = lenient.text(call, "status"), lenient.text(call, "kind", "other")
    if kind == "execute":
        return status in RAN
    return kind not in LOOKING and status == "completed"


def heard(update: Json, *, followed: bool = False) -> Input | None:
    """Return the loop's input for one of our own events; None if it has none."""
    match kind_of(update):
        case "_prompt" if update.get("steered") is True:
            return Steered()
        case "_prompt":
            return Began(lenient.text(update, "origin"))
        case "_turn" if update.get("state") == "idle":
            turn, reason = lenient.integer(update, "turn") or 0, lenient.text(update, "reason")
            return Ended(turn, reason, update.get("_meta"), followed)
        case "_context" if update.get("state") == "cleared":
            return Cleared()  # a reset is none: an agent that forgets each time would never end
        case "_agent" if update.get("state") == "switched":
            return Switched()
    return None


def follows(loop: Loop, effects: list[Effect]) -> bool:
    """Whether more follows a turn's end. Its end is then marked, so that clients keep waiting."""
    return loop.phase == "judging" or bool(effects)


def restored(header: Header) -> Loop:
    """Return the loop as the log left it; a judging that was under way is not repeated."""
    return Loop(iteration=lenient.integer(header.critic, "iteration") or 0)


def in_force(policy: CriticPolicy, standing: Json) -> CriticPolicy:
    """Return the policy with the user's choices for the session applied."""
    for field in ("enabled", "refine"):
        if isinstance(standing[field], bool):
            policy = policy._replace(**{field: standing[field]})
    return policy


# --- what it adds to the turn machine's effects --------------------------------------------------


def overhear(
    loop: Loop, given: turns.Input, effects: list[turns.Effect], now: float, policy: CriticPolicy
) -> tuple[Loop, list[turns.Effect | Effect]]:
    """Return the turn machine's effects, each followed by what the critic adds to it."""
    given_up: list[Effect] = []
    if isinstance(given, turns.CancelWanted):
        loop, given_up = step(loop, CancelWanted(), now, policy)
    merged: list[turns.Effect | Effect] = []
    for place, effect in enumerate(effects):
        opens = [each for each in effects[place + 1 :] if isinstance(_meant(each), Began)]
        known = _meant(effect, followed=bool(opens))
        if known is None or not isinstance(effect, Append):
            merged.append(effect)
            continue
        loop, more = step(loop, known, now, policy)
        draft = effect.draft
        if isinstance(known, Ended) and follows(loop, more):
            draft = draft._replace(update={**draft.update, "critic": True})
        merged += [effect._replace(draft=draft), *more]
    return loop, [*merged, *given_up]


def _meant(effect: turns.Effect, *, followed: bool = False) -> Input | None:
    return heard(effect.draft.update, followed=followed) if isinstance(effect, Append) else None
