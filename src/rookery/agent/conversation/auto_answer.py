"""What becomes of an action before it runs: judged by the client where that offers it, else here,
by the rules of the home, what cannot be undone, and the session's mode (row P11).

The model's word about an action's risk goes with it, and can only add to the risk. Where nobody can
judge, nothing runs.
"""

import os
from collections.abc import Sequence
from typing import Any, Protocol

from openhands.sdk.event import ActionEvent, UserRejectObservation
from openhands.sdk.mcp import MCPToolAction
from openhands.sdk.tool.builtins import FinishAction, ThinkAction

from rookery.agent.conversation.choices import Choices
from rookery.agent.conversation.home_rules import HomeRules
from rookery.agent.process.client import Client
from rookery.agent.storage.store import Record
from rookery.agent.translate import Translator
from rookery.core.policy import danger, modes
from rookery.core.policy.auto_answer import METHOD, UNREACHED, Judgement, judge, judgements_in
from rookery.core.vendors.profiles import profile_of
from rookery.home import call_paths, paths
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure, TooLarge
from rookery.wire.params import offers

type Json = dict[str, Any]

SECONDS = 60.0
"""Until a client that says nothing counts as one that cannot judge."""
NAME = "rookery"
"""As rules call this agent."""
UNJUDGED = "Nobody could judge this action, so it was not carried out."

_RULES = HomeRules()


class Subject(Protocol):
    """A session, as far as its actions are judged."""

    client: Client
    record: Record
    choices: Choices
    folder: str

    def translator_of(self, conversation: str) -> Translator: ...


def is_spoken(action: ActionEvent) -> bool:
    """A way of speaking: nothing is done by it."""
    return isinstance(action.action, FinishAction | ThinkAction)


def rejection(action: ActionEvent, reason: str, *, by_hook: bool = False) -> UserRejectObservation:
    """What the model is told instead of a result."""
    return UserRejectObservation(
        action_id=action.id,
        tool_name=action.tool_name,
        tool_call_id=action.tool_call_id,
        rejection_reason=reason,
        rejection_source="hook" if by_hook else "user",
    )


async def judge_all(
    session: Subject, actions: Sequence[ActionEvent], child: str = ""
) -> list[Judgement]:
    """For each action what is to be done with it. `child`: the conversation of the sub-agent whose
    actions they are."""
    translator = session.translator_of(child)
    wanted = [
        {
            "toolCall": _seen(translator.permission(action)),
            "risk": action.security_risk.value,
            "looks": not isinstance(action.action, MCPToolAction),
        }
        for action in actions
    ]
    if not wanted:
        return []
    if not offers(session.client.capabilities, "_meta", "rookery", "judge"):
        return [_judge_here(session, each) for each in wanted]
    params = KNOWN.json({"sessionId": session.record.id, "calls": wanted})
    try:
        answer = await session.client.peer.request(METHOD, params, SECONDS)
    except (RpcFailure, TooLarge, TimeoutError):
        answer = None
    return judgements_in(answer, len(wanted)) or [UNREACHED] * len(wanted)


def _seen(call: Json) -> Json:
    """What of it is judged. A look at a command that runs already runs nothing."""
    given = call["rawInput"]
    looks = call["kind"] == "execute" and given.get("command") == "" and not given.get("reset")
    kind = {"kind": "read"} if looks else {}
    return {"toolCallId": call["toolCallId"], **danger.gist(call), **kind}


def _judge_here(session: Subject, wanted: Json) -> Judgement:
    profile = profile_of(NAME, ())
    mode = session.choices.wanted.mode
    confirm = next((ours for ours, own in profile.confirms if own == mode), modes.EVERY)
    config = _RULES.current()
    lay = call_paths.lay(paths.home(), os.environ, session.folder)
    record = session.record
    call = call_paths.look_at(NAME, wanted["toolCall"], [record.cwd, *record.roots], lay)
    if config is None:  # nobody knows what would be denied: a person decides
        return Judgement("ask", "config", "config.toml cannot be used as it stands")
    guard = config.policy.confirm_destructive
    said: Json = {"risk": wanted["risk"], "looks": wanted["looks"]}
    return judge(config.rules, call, confirm, guard=guard, profile=profile, **said)
