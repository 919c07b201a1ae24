"""Two turns with the user's prompt: whether the agent asks first, accepts a rejection, and how soon
it reacts to a cancel."""

import asyncio
import time

from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, UNAUTHENTICATED, Card
from rookery.cli.checkup.subject import Reply, Subject, refuse
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.policy import modes
from rookery.core.units import duration
from rookery.core.vendors import options
from rookery.core.vendors.profiles import profile_of
from rookery.wire.jsonrpc import Incoming

ASK = "session/request_permission"
REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})

QUIET = 5.0
"""Seconds of silence after which the cancel is sent anyway."""

CANCEL_WITHIN = 30.0


async def set_mode(card: Card, agent: Subject, session: str, within: float) -> None:
    """Set the mode that Rookery's sessions get: in its default mode an agent may ask nothing."""
    info = lenient.mapping(card.facts, "agentInfo")
    profile = profile_of(card.name, card.argv, info)
    option = options.find(options.offered(card.offers), "mode")
    value = modes.mode_for(profile, option, modes.EVERY)
    if option is None or value is None or value == option["value"]:
        return
    method, params = options.setting(session, option, value)
    reply = await agent.ask(method, params, within)
    card.facts["mode"] = value if reply.good else card.facts.get("mode")
    if not reply.good:
        card.say("modes", NOT_OK, f"it rejects its own mode {value}: {reply.message}")


async def prompt_turns(
    card: Card, agent: Subject, session: str, prompt: str, within: float
) -> None:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}]}
    if await _whole_turn(card, agent, params, within):
        await _cancelled_turn(card, agent, params, within)
    else:
        card.say("cancel", NOT_TOLD, "the previous turn did not end")


async def _whole_turn(card: Card, agent: Subject, params: Json, within: float) -> bool:
    """Run a turn to its end and reject each permission. Returns False if the turn did not end."""
    before, unannounced = len(agent.requests), list[str]()

    def asked(incoming: Incoming) -> None:
        call = lenient.text(lenient.mapping(incoming.params, "toolCall"), "toolCallId")
        announced = {lenient.text(update, "toolCallId") for _, update in agent.updates}
        if incoming.method == ASK and call not in announced:
            unannounced.append(call)
        refuse(incoming)

    agent.on_request = asked
    reply = await agent.ask("session/prompt", params, within)
    agent.on_request = refuse
    reason = lenient.text(reply.result, "stopReason")
    card.facts |= {"promptSeconds": round(reply.seconds, 3), "stopReason": reason or None}
    if not reply.good:
        verdict = NOT_TOLD if reply.code == UNAUTHENTICATED else NOT_OK
        card.say("stop-reason", verdict, f"the prompt: {reply.message}")
        return reply.answered
    card.judge("stop-reason", reason in REASONS, f"the turn ends: {reason}", f"it ends: {reason!r}")
    asks = sum(incoming.method == ASK for incoming in agent.requests[before:])
    card.facts["asks"] = asks
    if not asks:
        mode = f" in its mode {card.facts['mode']}" if card.facts.get("mode") else ""
        card.say("permission", NOT_TOLD, f"it asked for no permission in this turn{mode}")
        return True
    statement = f"asked {count(asks, 'time')}, each for a tool call it had announced"
    otherwise = f"asked {count(asks, 'time')}, {len(unannounced)} for calls it had not announced"
    card.judge("permission", not unannounced, statement, otherwise)
    no = "a rejection does not cancel the turn"
    card.judge("rejection", reason != "cancelled", no, "a rejection ends the turn as cancelled")
    return True


async def _cancelled_turn(card: Card, agent: Subject, params: Json, within: float) -> None:
    """Send the same prompt again and cancel it at its first output or its first question."""
    begun, asks = asyncio.Event(), list[Incoming]()

    def asked(incoming: Incoming) -> None:
        if incoming.method == ASK:
            asks.append(incoming)
            begun.set()
        else:
            refuse(incoming)

    agent.on_request, agent.on_update = asked, lambda update: _note(update, begun)
    turn = asyncio.ensure_future(agent.ask("session/prompt", params, within))
    try:
        waiting = asyncio.ensure_future(begun.wait())
        await asyncio.wait({turn, waiting}, timeout=QUIET, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if turn.done():
            card.say("cancel", NOT_TOLD, "the turn was over before it could be cancelled")
            return
        sent = time.monotonic()
        agent.peer.notify("session/cancel", {"sessionId": params["sessionId"]})
        for incoming in asks:
            incoming.reply({"outcome": {"outcome": "cancelled"}})
        await asyncio.wait({turn}, timeout=CANCEL_WITHIN)
        _judge_cancel(card, turn, time.monotonic() - sent, asking=bool(asks))
    finally:
        agent.on_request, agent.on_update = refuse, lambda _update: None
        turn.cancel()


def _note(update: Json, begun: asyncio.Event) -> None:
    kind = lenient.text(update, "sessionUpdate")
    if kind.endswith("_chunk") or kind.startswith(("tool_call", "plan")):
        begun.set()


def _judge_cancel(
    card: Card, turn: "asyncio.Future[Reply]", seconds: float, *, asking: bool
) -> None:
    row = "cancel-while-asking" if asking else "cancel"
    if not turn.done():
        card.facts["cancelSeconds"] = None
        card.say(row, NOT_OK, f"did not react to a cancel within {duration(CANCEL_WITHIN)}")
        return
    reply = turn.result()
    card.facts["cancelSeconds"] = round(seconds, 3)
    reason = lenient.text(reply.result, "stopReason") or reply.message
    while_ = " while it asks" if asking else ""
    statement = f"a cancel{while_} ends the turn after {seconds * 1000:.0f} ms"
    if reason == "cancelled":
        card.say(row, OK, statement)
    else:
        card.say(row, NOT_OK, f"{statement}, as {reason!r}, not as cancelled")
