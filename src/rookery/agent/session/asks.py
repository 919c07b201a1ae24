"""Asks the user about the actions that judgement leaves open, one by one, and reads the answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from openhands.sdk.event import ActionEvent

from rookery.agent.conversation import auto_answer
from rookery.agent.conversation.choices import ALWAYS_APPROVE, RISK_BASED
from rookery.agent.sdk_patches.gate import is_spoken, rejection
from rookery.core.asks.asks import reason_of
from rookery.core.json.events import Json
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

type UnlessStopped = Callable[["asyncio.Future[Any]"], Awaitable[Any]]
"""Waits for something unless the turn is cancelled."""

ALLOW = "allow-once"
REJECT = "reject"
OPTIONS: list[Json] = [
    {"optionId": ALLOW, "name": "Allow", "kind": "allow_once"},
    {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
    {"optionId": ALWAYS_APPROVE, "name": "Always proceed", "kind": "allow_always"},
    {"optionId": RISK_BASED, "name": "Ask only when risky", "kind": "allow_always"},
]
REASON = "The user rejected this action."
UNANSWERED = "There was no answer, so this action was not carried out."


class Allowed(NamedTuple):
    mode: str = ""
    """The mode that the answer chose as well; "": none."""


class Rejected(NamedTuple):
    reason: str


class Cancelled(NamedTuple):
    """The client ends the turn."""


class Unanswered(NamedTuple):
    """An error or nonsense: the action keeps waiting."""


type Verdict = Allowed | Rejected | Cancelled | Unanswered


def needs_permission(session: "Session", action: ActionEvent) -> bool:
    """Whether it still needs a yes before it runs."""
    if is_spoken(action) or session.may_run(action):
        return False
    # A hook or a rule blocked it already.
    return action.id not in session.running.state.blocked_actions


async def ask(
    session: "Session",
    action: ActionEvent,
    unless_stopped: UnlessStopped,
    child: str = "",
    *,
    granted: bool = False,
) -> Verdict:
    """By judgement, then by the user. `child`: the conversation of the sub-agent that wants it.
    `granted`: the user allowed it before and is not asked again; a rule may still deny it."""
    judged = session.left_over(action)
    if judged is None:  # judged long ago, or by another process: rules and mode may have changed
        judging = asyncio.ensure_future(auto_answer.judge_all(session, [action], child))
        try:
            [judged] = await unless_stopped(judging)
        finally:
            judging.cancel()
    if judged.outcome == "allow" or (granted and judged.outcome == "ask"):
        session.clear_for_run(action)
        return Allowed()
    if judged.outcome == "deny":
        return Rejected(judged.denial)
    if judged.outcome == "ask":
        return await _ask_user(session, action, unless_stopped, child)
    return Unanswered()


async def _ask_user(
    session: "Session", action: ActionEvent, unless_stopped: UnlessStopped, child: str
) -> Verdict:
    call = session.translator_of(child).permission(action)
    params = {"sessionId": session.record.id, "toolCall": call, "options": OPTIONS}
    request = session.client.peer.request("session/request_permission", KNOWN.json(params))
    asking = asyncio.ensure_future(request)
    try:
        answer = await unless_stopped(asking)
    except RpcFailure:
        answer = None
    finally:
        asking.cancel()  # withdraws the request if it is still open
    verdict = verdict_of(answer)
    if isinstance(verdict, Allowed):
        session.clear_for_run(action)
        if verdict.mode:
            session.choose("mode", verdict.mode)
    return verdict


def reject(session: "Session", action: ActionEvent, reason: str) -> None:
    """Tell the model. Blocks."""
    conversation = session.running
    with conversation.state:
        conversation._on_event(rejection(action, reason))


def verdict_of(answer: Any) -> Verdict:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict):
        return Unanswered()
    if outcome.get("outcome") == "cancelled":
        return Cancelled()
    match outcome.get("optionId") if outcome.get("outcome") == "selected" else None:
        case "allow-once":
            return Allowed()
        case "always-approve" | "risk-based" as mode:
            return Allowed(mode)
        case "reject":
            return Rejected(_reason(outcome))
    return Unanswered()


def _reason(outcome: Json) -> str:
    said = reason_of(outcome).strip()
    return f"{REASON} Their reason: {said}" if said else REASON
