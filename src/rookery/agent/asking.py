"""The actions that wait for a person: asked one by one, by request of the real tool call (G9)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from openhands.sdk.event import ActionEvent, UserRejectObservation
from openhands.sdk.tool.builtins import FinishAction, ThinkAction

from rookery.agent import permission
from rookery.agent.making import policy_of
from rookery.agent.settings.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure

if TYPE_CHECKING:
    from rookery.agent.session import Session

type Json = dict[str, Any]
type UnlessStopped = Callable[["asyncio.Future[Any]"], Awaitable[Any]]
"""Waits for something as long as the turn is not cancelled."""


def needs_permission(session: "Session", action: ActionEvent) -> bool:
    """By the mode that is wanted now: it may have been changed since the action was proposed."""
    if isinstance(action.action, FinishAction | ThinkAction):
        return False
    if action.id in session.running.state.blocked_actions:
        return False  # by a hook: it is not carried out anyway
    return policy_of(session.choices.wanted.mode).should_confirm(action.security_risk)


async def ask(
    session: "Session", action: ActionEvent, unless_stopped: UnlessStopped, child: str = ""
) -> permission.Verdict:
    """`child`: the conversation of the agent below whose action it is."""
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
    if isinstance(verdict, permission.Allowed) and verdict.mode:
        session.choose("mode", verdict.mode)
    return verdict


def reject(session: "Session", action: ActionEvent, reason: str) -> None:
    """Tell the model. Blocks for a moment: in a thread."""
    conversation = session.running
    with conversation.state:
        conversation._on_event(
            UserRejectObservation(
                action_id=action.id,
                tool_name=action.tool_name,
                tool_call_id=action.tool_call_id,
                rejection_reason=reason,
            )
        )
