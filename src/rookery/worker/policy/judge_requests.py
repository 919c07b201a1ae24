"""`_rookery/judge`: an agent asks about actions before it runs them, and is answered at once."""

from rookery.core.policy import auto_answer
from rookery.core.tools.calls import key_of
from rookery.core.turn.calls import TurnCalls
from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Incoming
from rookery.worker.engine import Engine
from rookery.worker.policy.auto_answer import Judge


def take(incoming: Incoming, judge: Judge, engine: Engine, known: TurnCalls) -> None:
    """`known`: the calls of this turn, as far as they were told."""
    wanted = auto_answer.wanted_in(incoming.params)
    if wanted is None:
        words = f"calls must be 1 to {auto_answer.MOST} objects with a toolCall"
        incoming.fail(INVALID_PARAMS, words)
        return
    found: list[auto_answer.Judgement] = []
    for call, risk, looks in wanted:
        calls = judge.look_at_all([known.told(call)])
        judged = judge.judge(key_of(call), calls, risk, looks=looks)
        found.append(judged)
        if judged.by_rule and judged.outcome != "ask":
            engine.append(auto_answer.noted(call, judged))
    ruled = any(each.by_rule for each in found)
    if ruled and not engine.perform_due():  # what a rule said is in the log before it holds
        incoming.fail(INTERNAL_ERROR, "the log cannot be written, so nothing is allowed")
        return
    # At once: before what was said with it is written down.
    incoming.reply({"judgements": [each.as_json() for each in found]}, at_once=True)
