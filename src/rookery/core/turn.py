"""The turn machine: one prompt at a time goes to the agent, and each ends with exactly one reason
(rows T1-T3).

    idle ──Prompted──► waiting ──AgentReady──► running ──Answered──► idle
                          │                      │ └──CancelWanted──► cancelling ──Answered──► idle
                          └──AgentLost, CancelWanted──► idle     └──AgentLost──► idle

A prompt that comes while busy is queued; the queue drains after `end_turn` and is held after any
other end.
`step` is the only function that moves a Turn; it neither waits nor reads a clock.
"""

from typing import NamedTuple

from rookery.core import loose
from rookery.core.events import Draft, Json
from rookery.core.policy import Policy

REASONS = frozenset(
    [
        "end_turn",
        "max_tokens",
        "max_turn_requests",
        "refusal",
        "cancelled",
        "failed",
        "forced",
        "rate_limited",
        "orphaned",
        "unresponsive",
        "agent_exited",
        "interrupted",
    ]
)
STOP_REASONS = frozenset(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])


class Queued(NamedTuple):
    id: str
    prompt: list[Json]


class Turn(NamedTuple):
    phase: str = "idle"
    n: int = 0
    prompt: tuple[Json, ...] = ()
    cancel_by: float | None = None
    """When a cancel that the agent ignores is escalated (row T5)."""
    queue: tuple[Queued, ...] = ()


# --- inputs: what happened ---------------------------------------------------------------------


class Prompted(NamedTuple):
    id: str
    prompt: list[Json]
    by: str | None


class AgentReady(NamedTuple):
    pass


class Answered(NamedTuple):
    """The agent answered `session/prompt`; every update that it sent before is in the log by now
    (row T2)."""

    result: object
    error: Json | None


class AgentLost(NamedTuple):
    """The process ended, or could not be started; `error` where the agent itself said why."""

    detail: str
    error: Json | None = None
    reason: str = "agent_exited"


class CancelWanted(NamedTuple):
    id: str
    by: str | None


class Tick(NamedTuple):
    pass


type Input = Prompted | AgentReady | Answered | AgentLost | CancelWanted | Tick


# --- effects: what to do -----------------------------------------------------------------------


class Append(NamedTuple):
    """Commit before any effect that follows. `full`: also survive a power loss (law 3)."""

    draft: Draft
    full: bool = False


class WantAgent(NamedTuple):
    """AgentReady or AgentLost must come back."""


class SendPrompt(NamedTuple):
    prompt: list[Json]


class SendCancel(NamedTuple):
    """`session/cancel`, and every open ask answered `cancelled` (acp-C1)."""


class CloseAsks(NamedTuple):
    reason: str


class EndAgent(NamedTuple):
    reason: str


type Effect = Append | WantAgent | SendPrompt | SendCancel | CloseAsks | EndAgent


def deadline(turn: Turn) -> float | None:
    return turn.cancel_by if turn.phase == "cancelling" else None


def step(turn: Turn, given: Input, now: float, policy: Policy) -> tuple[Turn, list[Effect]]:
    match given:
        case Prompted():
            return _prompted(turn, given, policy)
        case AgentReady() if turn.phase == "waiting":
            return turn._replace(phase="running"), [SendPrompt(list(turn.prompt))]
        case Answered() if turn.phase in ("running", "cancelling"):
            return _answered(turn, given, policy)
        case AgentLost() if turn.phase != "idle":
            reason = given.reason if given.error is None else _reason_of(given.error)
            return _end(turn, reason, policy, error=given.error, detail=given.detail)
        case CancelWanted():
            return _cancel(turn, given, now, policy)
        case Tick() if (
            turn.phase == "cancelling" and turn.cancel_by is not None and now >= turn.cancel_by
        ):
            return _escalate(turn, policy, f"no end within {policy.cancel_grace:g} s of the cancel")
    return turn, []


def _prompted(turn: Turn, given: Prompted, policy: Policy) -> tuple[Turn, list[Effect]]:
    if turn.phase == "idle":
        return _begin(turn, given.prompt, cause=given.id, by=given.by)
    if len(turn.queue) >= policy.queue_most:
        message = f"The queue is full ({policy.queue_most} prompts): remove one, or wait."
        return turn, [Append(rejected("prompt", "queue_full", message, given.id, given.by))]
    update: Json = {"sessionUpdate": "_queue", "op": "add", "id": given.id, "prompt": given.prompt}
    queue = (*turn.queue, Queued(given.id, given.prompt))
    return turn._replace(queue=queue), [Append(Draft(update, given.id, given.by), full=True)]


def _begin(
    turn: Turn,
    prompt: list[Json],
    *,
    cause: str | None = None,
    by: str | None = None,
    queued: tuple[str, ...] = (),
) -> tuple[Turn, list[Effect]]:
    n = turn.n + 1
    update: Json = {"sessionUpdate": "_prompt", "turn": n, "prompt": prompt}
    update |= {"queued": list(queued)} if queued else {}
    running = {"sessionUpdate": "_turn", "state": "running", "turn": n}
    begun = turn._replace(phase="waiting", n=n, prompt=tuple(prompt), cancel_by=None)
    return begun, [
        Append(Draft(update, cause, by), full=True),
        Append(Draft(running)),
        WantAgent(),
    ]


def _answered(turn: Turn, given: Answered, policy: Policy) -> tuple[Turn, list[Effect]]:
    if given.error is not None:
        # An error that answers a cancel is its end, whatever the agent calls it.
        reason = "cancelled" if turn.phase == "cancelling" else _reason_of(given.error)
        return _end(turn, reason, policy, error=given.error)
    said = loose.text(given.result, "stopReason")
    extra: Json = {}
    if isinstance(given.result, dict):
        extra = {key: given.result[key] for key in ("usage", "_meta") if key in given.result}
    if said not in STOP_REASONS:
        extra["stopReason"] = said
    return _end(turn, said if said in STOP_REASONS else "end_turn", policy, extra=extra)


def _reason_of(error: Json) -> str:
    kind = loose.text(loose.mapping(error, "data"), "errorKind")
    limited = kind == "rate_limit" or '"errorKind":"rate_limit"' in loose.text(
        error, "message"
    ).replace(" ", "")
    return "rate_limited" if limited else "failed"


def _cancel(
    turn: Turn, given: CancelWanted, now: float, policy: Policy
) -> tuple[Turn, list[Effect]]:
    done = Append(Draft({"sessionUpdate": "_done", "command": "cancel"}, given.id, given.by))
    match turn.phase:
        case "waiting":
            ended, effects = _end(turn, "cancelled", policy)
            return ended, [done, *effects]
        case "running":
            cancelling = turn._replace(phase="cancelling", cancel_by=now + policy.cancel_grace)
            return cancelling, [done, SendCancel()]
        case "cancelling":
            ended, effects = _escalate(turn, policy, "a second cancel")
            return ended, [done, *effects]
    return turn, [done]


def _escalate(turn: Turn, policy: Policy, why: str) -> tuple[Turn, list[Effect]]:
    ended, effects = _end(turn, "unresponsive", policy, detail=why)
    return ended, [*effects, EndAgent("unresponsive")]


def _end(
    turn: Turn,
    reason: str,
    policy: Policy,
    *,
    error: Json | None = None,
    detail: str = "",
    extra: Json | None = None,
) -> tuple[Turn, list[Effect]]:
    update: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": turn.n, "reason": reason}
    update |= {"error": error} if error is not None else {}
    update |= {"detail": detail} if detail else {}
    update |= extra or {}
    effects: list[Effect] = [CloseAsks(reason)]
    if reason == "rate_limited":
        effects.append(Append(Draft(_rate_limit(error or {}))))
    effects.append(Append(Draft(update), full=True))
    ended = turn._replace(phase="idle", prompt=(), cancel_by=None)
    if reason == "end_turn" and ended.queue:
        drained, more = _drain(ended, policy)
        return drained, [*effects, *more]
    return ended, effects


def _rate_limit(error: Json) -> Json:
    """With the reset time that the agent gave, never an invented one (row T11)."""
    data = loose.mapping(error, "data")
    given: Json = {key: data[key] for key in ("resetsAt", "retryAfter") if key in data}
    return {"sessionUpdate": "_rate_limit", "message": loose.text(error, "message"), **given}


def _drain(turn: Turn, policy: Policy) -> tuple[Turn, list[Effect]]:
    """Combined: all that wait, up to the first slash command, which always goes alone."""
    taken = [turn.queue[0]]
    if policy.queue_drain == "combined" and not _is_command(taken[0].prompt):
        for item in turn.queue[1:]:
            if _is_command(item.prompt):
                break
            taken.append(item)
    prompt = taken[0].prompt
    for item in taken[1:]:
        prompt = [*prompt, {"type": "text", "text": "\n\n"}, *item.prompt]
    rest = turn._replace(queue=turn.queue[len(taken) :])
    return _begin(rest, prompt, queued=tuple(item.id for item in taken))


def _is_command(prompt: list[Json]) -> bool:
    return bool(prompt) and loose.text(prompt[0], "text").startswith("/")


def rejected(command: str, reason: str, message: str, cause: str | None, by: str | None) -> Draft:
    update = {
        "sessionUpdate": "_rejected",
        "command": command,
        "reason": reason,
        "message": message,
    }
    return Draft(update, cause, by)
