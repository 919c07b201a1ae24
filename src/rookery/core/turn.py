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
from rookery.core import queue as queues
from rookery.core.events import Draft, Json
from rookery.core.policy import Policy
from rookery.core.queue import Queued

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


class Turn(NamedTuple):
    phase: str = "idle"
    n: int = 0
    prompt: tuple[Json, ...] = ()
    cancel_by: float | None = None
    """When a cancel that the agent ignores is escalated (row T5)."""
    queue: queues.Queue = ()
    held: bool = False
    """The last turn did not end well: the queue waits for a person (row T3)."""


# --- inputs: what happened ---------------------------------------------------------------------


class Prompted(NamedTuple):
    id: str
    prompt: list[Json]
    by: str | None


class SteerWanted(NamedTuple):
    """A prompt for the turn that runs (row T4). Where it cannot enter, it is queued."""

    id: str
    prompt: list[Json]
    by: str | None
    able: bool
    """The agent takes prompts in mid-turn."""


class SteerAnswered(NamedTuple):
    id: str
    taken: bool


class QueueChanged(NamedTuple):
    """`op` is edit, move, remove or send; `item` is the id of a queued prompt ("": the queue)."""

    id: str
    by: str | None
    op: str
    item: str
    prompt: list[Json]
    place: int


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


type Input = (
    Prompted
    | SteerWanted
    | SteerAnswered
    | QueueChanged
    | AgentReady
    | Answered
    | AgentLost
    | CancelWanted
    | Tick
)


# --- effects: what to do -----------------------------------------------------------------------


class Append(NamedTuple):
    """Commit before any effect that follows. `full`: also survive a power loss (law 3)."""

    draft: Draft
    full: bool = False


class WantAgent(NamedTuple):
    """AgentReady or AgentLost must come back."""


class SendPrompt(NamedTuple):
    prompt: list[Json]


class SendSteer(NamedTuple):
    """SteerAnswered must come back."""

    id: str
    prompt: list[Json]


class SendCancel(NamedTuple):
    """`session/cancel`, and every open ask answered `cancelled` (acp-C1)."""


class CloseAsks(NamedTuple):
    reason: str


class EndAgent(NamedTuple):
    reason: str


type Effect = Append | WantAgent | SendPrompt | SendSteer | SendCancel | CloseAsks | EndAgent


def deadline(turn: Turn) -> float | None:
    return turn.cancel_by if turn.phase == "cancelling" else None


def step(turn: Turn, given: Input, now: float, policy: Policy) -> tuple[Turn, list[Effect]]:
    match given:
        case Prompted():
            return _prompted(turn, given, policy)
        case SteerWanted():
            return _steer(turn, given, policy)
        case SteerAnswered():
            return _steered(turn, given, policy)
        case QueueChanged():
            return _change_queue(turn, given, policy)
        case AgentReady() if turn.phase == "waiting":
            return turn._replace(phase="running"), [SendPrompt(list(turn.prompt))]
        case Answered() if turn.phase in ("running", "cancelling"):
            return _answered(turn, given, policy)
        case AgentLost() if turn.phase == "idle":
            return _settled(turn), []
        case AgentLost():
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
    return _enqueue(turn, Queued(given.id, given.prompt), given.by, policy)


def _enqueue(turn: Turn, item: Queued, by: str | None, policy: Policy) -> tuple[Turn, list[Effect]]:
    if len(turn.queue) >= policy.queue_most:
        message = f"The queue is full ({policy.queue_most} prompts): remove one, or wait."
        return turn, [Append(rejected("prompt", "queue_full", message, item.id, by))]
    update: Json = {"sessionUpdate": "_queue", "op": "add", "id": item.id, "prompt": item.prompt}
    queued = turn._replace(queue=(*turn.queue, item))
    return queued, [Append(Draft(update, item.id, by), full=True)]


def _steer(turn: Turn, given: SteerWanted, policy: Policy) -> tuple[Turn, list[Effect]]:
    """Kept in the queue until the agent has taken it: a refusal, or a death, loses nothing."""
    if turn.phase != "running" or not given.able:
        return _prompted(turn, Prompted(given.id, given.prompt, given.by), policy)
    offered = Queued(given.id, given.prompt, steering=True)
    queued, effects = _enqueue(turn, offered, given.by, policy)
    if queued is turn:
        return turn, effects
    return queued, [*effects, SendSteer(given.id, given.prompt)]


def _steered(turn: Turn, given: SteerAnswered, policy: Policy) -> tuple[Turn, list[Effect]]:
    item = queues.find(turn.queue, given.id)
    if item is None or not item.steering:
        return turn, []
    if not given.taken:
        waiting = turn._replace(queue=queues.replaced(turn.queue, item._replace(steering=False)))
        idle = turn.phase == "idle" and not turn.held
        return _drain(waiting, policy) if idle else (waiting, [])
    update: Json = {"sessionUpdate": "_prompt", "turn": turn.n, "prompt": item.prompt}
    update |= {"queued": [item.id], "steered": True}
    taken = turn._replace(queue=queues.without(turn.queue, item.id))
    return taken, [Append(Draft(update), full=True)]


def _change_queue(turn: Turn, given: QueueChanged, policy: Policy) -> tuple[Turn, list[Effect]]:
    item = queues.find(turn.queue, given.item)
    if item is None and (given.item or given.op != "send"):
        message = "That prompt is not in the queue any more."
        return turn, [Append(rejected("queue", "not_queued", message, given.id, given.by))]
    if given.op == "send":
        return _send_now(turn, given, policy)
    assert item is not None
    update: Json = {"sessionUpdate": "_queue", "op": given.op, "id": item.id}
    queue = turn.queue
    if given.op == "edit":
        update["prompt"] = given.prompt
        queue = queues.replaced(queue, item._replace(prompt=given.prompt))
    elif given.op == "move":
        update["to"] = given.place
        queue = queues.moved(queue, item.id, given.place)
    else:
        queue = queues.without(queue, item.id)
    return turn._replace(queue=queue), [Append(Draft(update, given.id, given.by), full=True)]


def _send_now(turn: Turn, given: QueueChanged, policy: Policy) -> tuple[Turn, list[Effect]]:
    """Nothing is interrupted for it: while a turn runs, the prompt goes to the queue's head."""
    done = Append(Draft({"sessionUpdate": "_done", "command": "queue"}, given.id, given.by))
    if turn.phase != "idle":
        if not given.item:
            return turn, [done]
        move = {"sessionUpdate": "_queue", "op": "move", "id": given.item, "to": 0}
        first = turn._replace(queue=queues.moved(turn.queue, given.item, 0))
        return first, [Append(Draft(move, given.id, given.by), full=True)]
    if not given.item:
        begun, effects = _drain(turn, policy)
        return begun, [done, *effects]
    item = queues.find(turn.queue, given.item)
    assert item is not None
    rest = turn._replace(queue=queues.without(turn.queue, item.id))
    begun, effects = _begin(rest, item.prompt, queued=(item.id,))
    return begun, [done, *effects]


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
    begun = turn._replace(phase="waiting", n=n, prompt=tuple(prompt), cancel_by=None, held=False)
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
    if reason in ("agent_exited", "interrupted", "unresponsive"):
        turn = _settled(turn)
    if reason == "rate_limited":
        effects.append(Append(Draft(_rate_limit(error or {}))))
    effects.append(Append(Draft(update), full=True))
    held = reason != "end_turn" and bool(turn.queue)
    ended = turn._replace(phase="idle", prompt=(), cancel_by=None, held=held)
    if reason == "end_turn" and ended.queue:
        drained, more = _drain(ended, policy)
        return drained, [*effects, *more]
    return ended, effects


def _settled(turn: Turn) -> Turn:
    """No answer comes any more: what was being offered to the turn waits like the rest."""
    return turn._replace(queue=tuple(item._replace(steering=False) for item in turn.queue))


def _rate_limit(error: Json) -> Json:
    """With the reset time that the agent gave, never an invented one (row T11)."""
    data = loose.mapping(error, "data")
    given: Json = {key: data[key] for key in ("resetsAt", "retryAfter") if key in data}
    return {"sessionUpdate": "_rate_limit", "message": loose.text(error, "message"), **given}


def _drain(turn: Turn, policy: Policy) -> tuple[Turn, list[Effect]]:
    batch = queues.next_batch(turn.queue, policy.queue_drain)
    if not batch:
        return turn, []
    names = tuple(item.id for item in batch)
    rest = turn._replace(queue=queues.without(turn.queue, *names))
    return _begin(rest, queues.joined(batch), queued=names)


def rejected(command: str, reason: str, message: str, cause: str | None, by: str | None) -> Draft:
    update = {
        "sessionUpdate": "_rejected",
        "command": command,
        "reason": reason,
        "message": message,
    }
    return Draft(update, cause, by)
