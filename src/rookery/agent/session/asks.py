"""The actions that wait for a person: asked one by one, by request of the real tool call (G9), and
only where judgement leaves them to a person (P11)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from openhands.sdk.event import ActionEvent

from rookery.agent.conversation import auto_answer
from rookery.agent.session import permission
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

type Json = dict[str, Any]
type UnlessStopped = Callable[["asyncio.Future[Any]"], Awaitable[Any]]
"""Waits for something as long as the turn is not cancelled."""


def needs_permission(session: "Session", action: ActionEvent) -> bool:
    """Whether something is still to be said about it before it runs."""
    if auto_answer.is_spoken(action) or session.may_run(action):
        return False
    # By a hook or a rule: it is not carried out anyway.
    return action.id not in session.running.state.blocked_actions


async def ask(
    session: "Session",
    action: ActionEvent,
    unless_stopped: UnlessStopped,
    child: str = "",
    *,
    granted: bool = False,
) -> permission.Verdict:
    """By judgement, and where that says so by a person. `child`: the conversation of the sub-agent
    whose action it is. `granted`: a person allowed it before, and is not asked again; a rule of
    today may still deny it."""
    judged = session.left_over(action)
    if judged is None:  # long ago, or by another process: rules and mode may be others now
        judging = asyncio.ensure_future(auto_answer.judge_all(session, [action], child))
        try:
            [judged] = await unless_stopped(judging)
        finally:
            judging.cancel()
    if judged.outcome == "allow" or (granted and judged.outcome == "ask"):
        session.clear_for_run(action)
        return permission.Allowed()
    if judged.outcome == "deny":
        return permission.Rejected(judged.denial)
    if judged.outcome == "ask":
        return await _ask_person(session, action, unless_stopped, child)
    return permission.Unanswered()


async def _ask_person(
    session: "Session", action: ActionEvent, unless_stopped: UnlessStopped, child: str
) -> permission.Verdict:
    call = session.translator_of(child).permission(action)
    params = {"sessionId": session.record.id, "toolCall": call, "options": permission.OPTIONS}
    request = session.client.peer.request("session/request_permission", KNOWN.json(params))
    asking = asyncio.ensure_future(request)
    try:
        answer = await unless_stopped(asking)
    except RpcFailure:
        answer = None
    finally:
        asking.cancel()  # taken back where nobody waits for it any more
    verdict = permission.verdict_of(answer)
    if isinstance(verdict, permission.Allowed):
        session.clear_for_run(action)
        if verdict.mode:
            session.choose("mode", verdict.mode)
    return verdict


def reject(session: "Session", action: ActionEvent, reason: str) -> None:
    """Tell the model. Blocks for a moment: in a thread."""
    conversation = session.running
    with conversation.state:
        conversation._on_event(auto_answer.rejection(action, reason))
