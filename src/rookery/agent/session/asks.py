"""Asks the user for permission for the actions that judgement leaves open, and reads the
answers."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from openhands.sdk.event import ActionEvent

from rookery.agent import private
from rookery.agent.conversation.choices import ALWAYS_APPROVE, MODE_IDS, PLAN, RISK_BASED
from rookery.agent.sdk_patches.gate import is_spoken, rejection
from rookery.agent.session import auto_answer, risk
from rookery.agent.translate.children import CHILD_CANCELLED
from rookery.agent.translate.content import shown
from rookery.agent.translate.rejection import for_model
from rookery.core.asks.asks import Judgement, reason_of
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure
from rookery.wire.params import offers

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

type UnlessStopped = Callable[["asyncio.Future[Any]"], Awaitable[Any]]
"""Waits for something unless the turn is cancelled."""

ALLOW = "allow-once"
REJECT = "reject"
OPTIONS: list[Json] = [
    {"optionId": ALLOW, "name": "Allow", "kind": "allow_once"},
    {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
    {
        "optionId": ALWAYS_APPROVE,
        "name": approvals.BY_ID[approvals.ALL].title,
        "kind": "allow_always",
    },
    {
        "optionId": RISK_BASED,
        "name": approvals.BY_ID[approvals.RISKY].title,
        "kind": "allow_always",
    },
]
UNANSWERED = "There was no answer, so this action was not carried out."


class Verdict(NamedTuple):
    outcome: Literal["allowed", "rejected", "cancelled", "unanswered"]
    """Cancelled: the client ends the turn. Unanswered: the action keeps waiting."""
    reason: str = ""
    """Of a rejection, for the model."""
    mode: str = ""
    """That the answer chose as well; "": none."""
    comment: str = ""
    """What the user said with it."""
    never: bool = False
    """Of a rejection: nor is it asked again."""

    @property
    def remark(self) -> str:
        """The user's remark with a permission: the model reads it with the action's result."""
        return self.comment if self.outcome == "allowed" else ""


def needs_permission(session: "Session", action: ActionEvent) -> bool:
    """Tell whether an action still needs permission before it runs."""
    if is_spoken(action) or session.may_run(action):
        return False
    # A hook or a rule blocked it already.
    return action.id not in session.running.state.blocked_actions


async def ask_all(
    session: "Session", unless_stopped: UnlessStopped, thread: Callable[..., Awaitable[Any]]
) -> list[Verdict]:
    """Ask about each action that waits, all at once, so that the user sees how many there are. Ends
    with the first one that is cancelled or stays unanswered. `thread`: runs what may block."""
    waiting = [each for each in session.pending() if needs_permission(session, each)]
    asking = [
        asyncio.ensure_future(_ask(session, each, unless_stopped, thread)) for each in waiting
    ]
    answers: list[Verdict] = []
    try:
        for answer in asyncio.as_completed(asking):
            answers.append(await answer)
            if answers[-1].outcome in ("cancelled", "unanswered"):
                break
    finally:
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    return answers


async def _ask(
    session: "Session",
    action: ActionEvent,
    unless_stopped: UnlessStopped,
    thread: Callable[..., Awaitable[Any]],
) -> Verdict:
    """Ask, and store a permission at once: it outlives this process, whatever is still open."""
    before = action.id in session.record.granted
    answer = await ask(session, action, unless_stopped, granted=before)
    if answer.outcome == "allowed" and not before and len(session.pending()) > 1:
        session.keep(granted=(*session.record.granted, action.id))
    elif answer.outcome == "rejected":
        await thread(reject, session, action, answer.reason)
    return answer


async def ask(
    session: "Session",
    action: ActionEvent,
    unless_stopped: UnlessStopped,
    child: str = "",
    *,
    granted: bool = False,
) -> Verdict:
    """Decide by judgement, then ask the user. `child`: the conversation of the sub-agent whose
    action it is. `granted`: the user allowed it before and is not asked again; a rule may still
    deny it."""
    judged = session.left_over(action)
    session.look_where(action)
    if judged is None:  # judged long ago, or by another process: rules and mode may have changed
        judging = asyncio.ensure_future(auto_answer.judge_all(session, [action], child))
        try:
            [judged] = await unless_stopped(judging)
        finally:
            judging.cancel()
    if judged.outcome == "allow" or (granted and judged.outcome == "ask"):
        session.clear_for_run(action)
        return Verdict("allowed")
    if judged.outcome == "deny":
        return Verdict("rejected", judged.denial)
    if judged.outcome == "ask":
        return await _ask_user(session, action, unless_stopped, child, judged)
    return Verdict("unanswered")


class OfChildren:
    """The asks of a turn's sub-agents: withdrawn if one of them is cancelled alone."""

    def __init__(self) -> None:
        self._open: dict[str, set[asyncio.Task[Verdict]]] = {}
        """By the conversation of the one that asks."""

    async def ask(
        self, session: "Session", action: ActionEvent, unless_stopped: UnlessStopped, child: str
    ) -> Verdict:
        asking = asyncio.ensure_future(ask(session, action, unless_stopped, child))
        known = self._open.setdefault(child, set())
        known.add(asking)
        try:
            await asyncio.wait({asking})
            return Verdict("rejected", CHILD_CANCELLED) if asking.cancelled() else asking.result()
        finally:
            known.discard(asking)

    def withdraw(self, children: Collection[str]) -> None:
        for child in children:
            for asking in self._open.get(child, ()):
                asking.cancel()


async def _ask_user(
    session: "Session",
    action: ActionEvent,
    unless_stopped: UnlessStopped,
    child: str,
    judged: Judgement,
) -> Verdict:
    call = _with_reason(session, session.translator_of(child).permission(action), action, judged)
    plans = session.choices.wanted.mode == PLAN  # which no answer to something else ends
    options = OPTIONS[:2] if plans else OPTIONS
    verdict = await request(session, call, options, unless_stopped)
    if verdict.outcome == "allowed":
        if refused := auto_answer.refused_by_plan(session, action, child):
            return Verdict("rejected", refused.denial)  # the mode was changed meanwhile
        session.clear_for_run(action)
        if verdict.mode:
            session.choose("mode", verdict.mode)
    return verdict


def _with_reason(session: "Session", call: Json, action: ActionEvent, judged: Judgement) -> Json:
    """Return the call with what makes it risky. A client that judges points out itself what cannot
    be undone, and shows the rest in its own way."""
    why, meta = risk.why(action), lenient.mapping(call, "_meta")
    if why:
        ours = lenient.mapping(meta, "rookery") | {"why": why}
        call = {**call, "_meta": {**meta, "rookery": ours}}
    if offers(session.client.capabilities, "_meta", "rookery", "judge"):
        return call
    final = f"This cannot be undone: it {judged.reason}." if judged.by == "guard" else ""
    text = final or why
    return {**call, "content": [shown(text), *call.get("content", [])]} if text else call


async def request(
    session: "Session",
    call: Json,
    options: list[Json],
    unless_stopped: UnlessStopped,
    overtaken: asyncio.Event | None = None,
) -> Verdict:
    """Request permission and return the user's answer. If `overtaken` is set, the request is
    withdrawn and stays unanswered."""
    params = {"sessionId": session.record.id, "toolCall": call, "options": options}
    request = session.client.peer.request("session/request_permission", KNOWN.json(params))
    asking = asyncio.ensure_future(request)
    other = asyncio.ensure_future((overtaken or asyncio.Event()).wait())
    first = asyncio.wait({asking, other}, return_when=asyncio.FIRST_COMPLETED)
    try:
        await unless_stopped(asyncio.ensure_future(first))
        answer = asking.result() if asking.done() else None
    except RpcFailure:
        answer = None
    finally:
        asking.cancel()  # withdraws the request if it is still open
        other.cancel()
    return verdict_of(answer)


def reject(session: "Session", action: ActionEvent, reason: str) -> None:
    """Reject an action and tell the model why. Blocks."""
    conversation = session.running
    with conversation.state:
        private.add_event(conversation, rejection(action, reason))


def verdict_of(answer: Any) -> Verdict:
    match lenient.mapping(answer, "outcome"):
        case {"outcome": "cancelled"}:
            return Verdict("cancelled")
        case {"outcome": "selected", "optionId": "allow-once"} as outcome:
            return Verdict("allowed", comment=reason_of(outcome).strip())
        case {"outcome": "selected", "optionId": str(mode)} as outcome if mode in MODE_IDS:
            return Verdict("allowed", mode=mode, comment=reason_of(outcome).strip())
        case {"outcome": "selected", "optionId": "reject" | "keep-planning"} as outcome:
            reason = reason_of(outcome).strip()
            return Verdict("rejected", for_model(reason), comment=reason)
        case {"outcome": "selected", "optionId": "reject-always"}:
            return Verdict("rejected", never=True)
    return Verdict("unanswered")
