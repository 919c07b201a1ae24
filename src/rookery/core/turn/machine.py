"""The turn machine: one prompt at a time goes to the agent, and each ends with exactly one reason.

    idle ──Prompted──► waiting ──AgentReady──► running ──Answered──► idle
         ──AskedAgain──►  │                      │ └──CancelWanted──► cancelling ──Answered──► idle
                          └──AgentLost, CancelWanted──► idle     └──AgentLost, Deferred──► idle

A prompt that comes while busy is queued; the queue drains after `end_turn` and is held after any
other end, except what the user says to send while a cancel is under way. An end without a decision
keeps its asks open (`core/asks/kept_asks.py`). Only `step` moves a Turn; it neither waits nor reads
a clock.
"""

from rookery.core import budgets
from rookery.core.asks import kept_asks
from rookery.core.json import Draft, Json, lenient
from rookery.core.limits import Policy
from rookery.core.stop_reasons import KEEPING, STOP_REASONS
from rookery.core.turn import clearing, rate_limit
from rookery.core.turn import messages as msg
from rookery.core.turn import queue as queues
from rookery.core.turn.messages import Append, Effect, FromAgent, Input, Step, Turn, rejected
from rookery.core.turn.queue import Queued
from rookery.core.units import duration


def deadline(turn: Turn) -> float | None:
    if turn.owes is not None:
        return turn.owes
    return turn.cancel_by if turn.phase == "cancelling" or turn.ask is not None else None


def step(turn: Turn, given: Input, now: float, policy: Policy) -> Step:
    match given:
        case msg.Tick():
            return _ticked(turn, now, policy)
        case msg.AgentReady() | msg.Answered() | msg.AgentLost() | msg.SteerAnswered():
            return _of_agent(turn, given, policy)
        case msg.Orphaned() | msg.Paused():
            return _stop(turn, given, now, policy)
        case msg.AskedAgain() if turn.phase == "idle":
            return _ask_again(turn, given)
        case msg.Deferred() if turn.phase == "running":
            ended, effects = _end(turn, "waiting", policy, detail="deferred")
            return ended, [*effects, msg.EndAgent("deferred")]
        case msg.Freed() if turn.phase == "idle":
            free = turn._replace(barred=turn.barred and not given.paid)
            return _drain(free, policy, place=given.place)
        case msg.AskedAgain() | msg.Deferred() | msg.Freed():
            return turn, []
        case msg.Prompted():
            return _prompted(turn, given, policy)
        case msg.SteerWanted():
            return _steer(turn, given, policy)
        case msg.QueueChanged():
            return _change_queue(turn, given, policy)
        case msg.CancelWanted():
            return _cancel(turn, given, now, policy)
        case msg.ForceWanted():
            return _force(turn, given, now, policy)


def _of_agent(turn: Turn, given: FromAgent, policy: Policy) -> Step:
    sent = turn.phase not in ("idle", "waiting")
    match given:
        case msg.AgentReady() if turn.phase == "waiting" and turn.owes is None:
            return _run(turn, given, policy)
        case msg.AgentReady():
            return turn, []
        case msg.Answered() if given.turn not in (None, turn.n) or not sent:
            return _paid(turn) if turn.owes is not None else (turn, [])
        case msg.Answered():
            return _answered(turn, given, policy)
        case msg.SteerAnswered():
            return _steered(turn, given, policy)
        case msg.AgentLost() if turn.phase == "idle":
            return _settled(turn)._replace(owes=None), []
        case msg.AgentLost():
            reason = given.reason if given.error is None else _reason_of(given.error)
            lost, keep = _settled(turn)._replace(owes=None), given.reason != "cancelled"
            return _end(lost, reason, policy, error=given.error, detail=given.detail, keep=keep)


def _ticked(turn: Turn, now: float, policy: Policy) -> Step:
    if turn.owes is not None and now >= turn.owes:
        paid, effects = _paid(turn)
        return paid, [msg.EndAgent("unresponsive"), *effects]
    if turn.phase == "cancelling" and turn.cancel_by is not None and now >= turn.cancel_by:
        late = f"not ended {duration(policy.cancel_grace)} after the cancel"
        return _escalate(turn, policy, late)
    if turn.phase == "running" and turn.cancel_by is not None and now >= turn.cancel_by:
        return _give_up(turn, now, policy)
    return turn, []


def _stop(turn: Turn, given: msg.Orphaned | msg.Paused, now: float, policy: Policy) -> Step:
    if isinstance(given, msg.Paused):
        return _pause(turn, given, now, policy)
    if turn.phase != "running":
        return turn, []
    return _give_up(turn._replace(because=given.why, ask=None), now, policy)


def _give_up(turn: Turn, now: float, policy: Policy) -> Step:
    """Cancel the turn, although no user asked for it: it ends as orphaned, or with the question
    whether to continue."""
    turn = turn._replace(phase="cancelling", cancel_by=now + policy.cancel_grace)
    return turn, [msg.SendCancel(kept=False)]


def _pause(turn: Turn, given: msg.Paused, now: float, policy: Policy) -> Step:
    """Stop between two steps. An agent that can does so by itself; another one is cancelled once
    none of its calls runs, or after a grace period. What is spent meanwhile is shown."""
    stops = turn.phase == "cancelling" and turn.ask is not None
    if turn.phase != "running" and not stops:
        return turn, []
    begins, news = turn.ask is None, given.why != turn.because
    turn = turn._replace(because=given.why, ask=given.ask)
    if stops:
        return turn, []
    update = {"sessionUpdate": "_turn", "state": "running", "turn": turn.n, "stopping": given.why}
    effects: list[Effect] = [Append(Draft(update, None, "budget"))] if news else []
    if not given.busy and not given.able:
        turn, more = _give_up(turn, now, policy)
        return turn, [*effects, *more]
    if begins and given.able:
        effects.append(msg.SendPause())
    elif begins:
        turn = turn._replace(cancel_by=now + policy.budget_grace)
    return turn, effects


def _ask_again(turn: Turn, given: msg.AskedAgain) -> Step:
    if turn.barred and given.how != budgets.HOW:
        return turn, [msg.AskBudget()]
    shown = [] if given.how == kept_asks.CONTINUE else given.prompt
    begun, effects = _begin(turn, shown, origin=kept_asks.ORIGIN, how=given.how, of=given.of)
    return begun._replace(prompt=tuple(given.prompt), again=given.how), effects


def _run(turn: Turn, given: msg.AgentReady, policy: Policy) -> Step:
    how = kept_asks.way(turn.again, continues=given.continues, forgot=given.forgot)
    if how == kept_asks.DECIDE:
        ended, effects = _end(turn, "waiting", policy, extra={"decide": True})
        return ended, [*effects, msg.LetDecide()]
    prompt = msg.SendPrompt(list(turn.prompt), how == kept_asks.CONTINUE)
    return turn._replace(phase="running"), [prompt]


def _prompted(turn: Turn, given: msg.Prompted, policy: Policy) -> Step:
    if turn.phase == "idle" and turn.barred and given.origin:
        return turn, [msg.AskBudget()]
    if turn.phase == "idle" and not given.behind and not turn.barred:
        cause = None if given.origin else given.id
        return _begin(turn, given.prompt, cause, given.by, origin=given.origin)
    queued, effects = _enqueue(
        turn, Queued(given.id, given.prompt, reason=given.reason), given.by, policy
    )
    barred = turn.phase == "idle" and turn.barred and not given.behind
    return queued, [*effects, msg.AskBudget()] if barred else effects


def _enqueue(turn: Turn, item: Queued, by: str | None, policy: Policy) -> Step:
    if len(turn.queue) >= policy.queue_most:
        message = f"The queue is full ({policy.queue_most} prompts): remove one, or wait."
        return turn, [Append(rejected("prompt", "queue_full", message, item.id, by))]
    queue, moves = queues.added(turn.queue, item)
    queued = turn._replace(queue=queue, held=turn.held or turn.phase == "idle")
    added = _queue("add", item.id, item.id, by, prompt=item.prompt)
    return queued, [added, *(Append(each, full=True) for each in moves)]


def _queue(op: str, item: str, cause: str, by: str | None, **fields: object) -> Append:
    update: Json = {"sessionUpdate": "_queue", "op": op, "id": item, **fields}
    return Append(Draft(update, cause, by), full=True)


def _done(command: str, given: msg.QueueChanged | msg.CancelWanted | msg.ForceWanted) -> Append:
    return Append(Draft({"sessionUpdate": "_done", "command": command}, given.id, given.by))


def _steer(turn: Turn, given: msg.SteerWanted, policy: Policy) -> Step:
    """Keep the prompt in the queue until the agent has taken it: a refusal, or a crash, loses
    nothing."""
    if turn.phase != "running" or turn.ask is not None or not given.able:
        return _prompted(turn, msg.Prompted(given.id, given.prompt, given.by), policy)
    offered = Queued(given.id, given.prompt, steering=True)
    queued, effects = _enqueue(turn, offered, given.by, policy)
    if queued is turn:
        return turn, effects
    return queued, [*effects, msg.SendSteer(given.id, given.prompt)]


def _steered(turn: Turn, given: msg.SteerAnswered, policy: Policy) -> Step:
    item = queues.find(turn.queue, given.id)
    if item is None or not item.steering:
        return turn, []
    if not given.taken:
        waiting = turn._replace(queue=queues.replaced(turn.queue, item._replace(steering=False)))
        if turn.phase == "idle" and (item.wanted or not turn.held):
            return _drain(waiting, policy, batch=queues.wanted(waiting.queue, policy.queue_drain))
        # Nothing changes in the queue; whoever sent it is told.
        return waiting, [Append(Draft({"sessionUpdate": "_queue", "op": "wait", "id": item.id}))]
    update: Json = {"sessionUpdate": "_prompt", "turn": turn.n, "prompt": item.prompt}
    update |= {"queued": [item.id], "steered": True}
    taken = turn._replace(queue=queues.without(turn.queue, item.id))
    return taken, [Append(Draft(update), full=True)]


def _change_queue(turn: Turn, given: msg.QueueChanged, policy: Policy) -> Step:
    item = queues.find(turn.queue, given.item)
    if item is None and (given.item or given.op != "send"):
        message = "That prompt is no longer in the queue."
        return turn, [Append(rejected("queue", "not_queued", message, given.id, given.by))]
    if given.op == "send":
        return _send_now(turn, given, policy)
    assert item is not None
    fields: Json = {}
    match given.op:
        case "edit":
            queue = queues.replaced(turn.queue, item._replace(prompt=given.prompt))
            fields["prompt"] = given.prompt
        case "move":
            queue = queues.moved(turn.queue, item.id, given.place)
            fields["to"] = given.place
        case _:
            queue = queues.without(turn.queue, item.id)
    return turn._replace(queue=queue), [_queue(given.op, item.id, given.id, given.by, **fields)]


def _send_now(turn: Turn, given: msg.QueueChanged, policy: Policy) -> Step:
    """Send a queued prompt without interrupting anything. While a turn runs, it goes to the head of
    the queue, and from there into the turn if the agent can take it. If the turn is being
    cancelled, it is sent once that is over."""
    done = _done("queue", given)
    if turn.phase == "cancelling" and turn.ask is None:
        turn = turn._replace(queue=queues.want(turn.queue, given.item))
    if turn.phase != "idle":
        if not given.item:
            return turn, [done]
        first = turn._replace(queue=queues.moved(turn.queue, given.item, 0))
        moved: list[Effect] = [_queue("move", given.item, given.id, given.by, to=0)]
        item = queues.find(first.queue, given.item)
        able = given.able and turn.phase == "running" and turn.ask is None
        if not able or item is None or item.steering:
            return first, moved
        offered = first._replace(queue=queues.replaced(first.queue, item._replace(steering=True)))
        return offered, [*moved, msg.SendSteer(item.id, item.prompt)]
    if turn.barred:
        return turn, [done, msg.AskBudget()]
    if not given.item:
        begun, effects = _drain(turn, policy)
        return begun, [done, *effects]
    item = queues.find(turn.queue, given.item)
    assert item is not None
    rest = turn._replace(queue=queues.without(turn.queue, item.id))
    begun, effects = _begin(rest, item.prompt, queued=[item.id])
    return begun, [done, *effects]


def _begin(
    turn: Turn, prompt: list[Json], cause: str | None = None, by: str | None = None, **more: object
) -> Step:
    """Begin a turn. `more`: further fields of the `_prompt` update."""
    n, origin = turn.n + 1, more.get("origin")
    update: Json = {"sessionUpdate": "_prompt", "turn": n, "prompt": prompt}
    update |= {key: value for key, value in more.items() if value}
    resumed = turn.resumed + 1 if origin == rate_limit.ORIGIN else 0
    running = {"sessionUpdate": "_turn", "state": "running", "turn": n}
    begun = turn._replace(phase="waiting", n=n, prompt=tuple(prompt), cancel_by=None, held=False)
    begun = begun._replace(resumed=resumed, clears=origin == clearing.ORIGIN, again="")
    effects: list[Effect] = [Append(Draft(update, cause, by), full=True), Append(Draft(running))]
    return begun, effects if turn.owes is not None else [*effects, msg.WantAgent()]


def _answered(turn: Turn, given: msg.Answered, policy: Policy) -> Step:
    if turn.because and turn.ask is None:
        return _end(turn, "orphaned", policy, error=given.error, detail=turn.because)
    if given.error is not None:
        # An error that answers a cancel is its end, whatever the agent calls it.
        reason = "cancelled" if turn.phase == "cancelling" else _reason_of(given.error)
        return _end(turn, reason, policy, error=given.error)
    outcome = lenient.text(given.result, "stopReason")
    if turn.phase == "running" and outcome != "cancelled":  # it was done before a budget stopped it
        turn = turn._replace(ask=None, because="")
    result: Json = given.result if isinstance(given.result, dict) else {}
    extra: Json = {key: result[key] for key in ("usage", "_meta") if key in result}
    if outcome not in STOP_REASONS:
        extra["stopReason"] = outcome
    # Some agents answer a cancel with `end_turn`: the user's wish still holds the queue.
    hold = turn.phase == "cancelling"
    reason = outcome if outcome in STOP_REASONS else "end_turn"
    return _end(turn, reason, policy, extra=extra, hold=hold)


def _reason_of(error: Json) -> str:
    return "rate_limited" if rate_limit.is_limit(error) else "failed"


def _cancel(turn: Turn, given: msg.CancelWanted, now: float, policy: Policy) -> Step:
    done: list[Effect] = [] if given.id is None else [_done("cancel", given)]
    match turn.phase:
        case "waiting":
            ended, effects = _end(turn, "cancelled", policy)
            return ended, [*done, *effects]
        case "running":
            cancelling = turn._replace(phase="cancelling", cancel_by=now + policy.cancel_grace)
            return cancelling._replace(ask=None, because=""), [*done, msg.SendCancel()]
        case "cancelling":
            ended, effects = _escalate(turn, policy, "a second cancel")
            return ended, [*done, *effects]
    return turn, done


def _escalate(turn: Turn, policy: Policy, why: str) -> Step:
    reason, detail = ("orphaned", turn.because) if turn.because else ("unresponsive", why)
    ended, effects = _end(_unwanted(turn), reason, policy, detail=detail)
    begun, more = _drain_wanted(_settled(ended._replace(queue=turn.queue)), policy)
    return begun, [*effects, msg.EndAgent(reason), *more]


def _force(turn: Turn, given: msg.ForceWanted, now: float, policy: Policy) -> Step:
    done = _done("force_end", given)
    if turn.phase == "idle":
        return turn, [done]
    owes = None if turn.phase == "waiting" else now + policy.cancel_grace
    ended, effects = _end(turn._replace(owes=owes), "forced", policy, detail=turn.because)
    return ended, [done, msg.SendCancel(), *effects]


def _paid(turn: Turn) -> Step:
    """Mark the agent as free again; whatever waited for it may go on."""
    effects: list[Effect] = [msg.WantAgent()] if turn.phase == "waiting" else []
    return turn._replace(owes=None), effects


def _end(
    turn: Turn,
    reason: str,
    policy: Policy,
    *,
    error: Json | None = None,
    detail: str = "",
    extra: Json | None = None,
    hold: bool = False,
    keep: bool = False,
) -> Step:
    """End the turn. `keep`: its asks stay open. A turn that was cancelled for a budget waits for
    the user, however it ends."""
    if turn.ask is not None:
        reason, detail = "waiting", turn.because
    update: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": turn.n, "reason": reason}
    update |= {"error": error} if error is not None else {}
    update |= {"detail": detail} if detail else {}
    update |= {"paused": True} if turn.ask is not None else {}
    update |= extra or {}
    closing = msg.CloseAsks(reason, kept=reason != "orphaned")
    effects: list[Effect] = [] if keep or reason == "waiting" else [closing]
    if reason in (*KEEPING, "unresponsive", "orphaned"):
        turn = _settled(turn)
    if reason == "rate_limited":
        limit = rate_limit.limit_of(error or {}, turn.prompt, turn.resumed)
        effects.append(Append(Draft(limit)))
    effects.append(Append(Draft(update), full=True))
    if turn.ask is not None:
        effects.append(Append(turn.ask, full=True))
    held = (hold or turn.clears or reason != "end_turn") and bool(turn.queue)
    ended = turn._replace(phase="idle", prompt=(), cancel_by=None, because="", held=held, again="")
    ended = ended._replace(ask=None)
    refused = extra is not None and not hold and reason == "cancelled"  # its word for our no
    why = queues.reasons(turn.queue) if refused else ()
    if why or (not ended.held and ended.queue):
        drained, more = _drain(ended, policy, batch=why)
    else:
        drained, more = _drain_wanted(ended, policy)
    return drained, [*effects, *more]


def _drain_wanted(turn: Turn, policy: Policy) -> Step:
    batch = queues.wanted(turn.queue, policy.queue_drain)
    return _drain(turn, policy, batch=batch) if batch else (turn, [])


def _settled(turn: Turn) -> Turn:
    """Put prompts that were being offered to the turn back in the queue: no answer will come any
    more."""
    return turn._replace(queue=tuple(item._replace(steering=False) for item in turn.queue))


def _unwanted(turn: Turn) -> Turn:
    return turn._replace(queue=tuple(item._replace(wanted=False) for item in turn.queue))


def _drain(turn: Turn, policy: Policy, *, place: bool = False, batch: queues.Queue = ()) -> Step:
    ready = tuple(item for item in turn.queue if item.placeless or not place)
    batch = batch or queues.next_batch(ready, policy.queue_drain)
    if not batch:
        return turn, []
    if turn.barred:
        return turn._replace(held=True), [msg.AskBudget()]
    names = [item.id for item in batch]
    rest = _unwanted(turn._replace(queue=queues.without(turn.queue, *names)))
    return _begin(rest, queues.joined(batch), queued=names)
