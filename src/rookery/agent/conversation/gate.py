"""The last door before a tool: what was not judged does not run, whoever proposed it and whatever
the SDK's own policy says (row P11).

The session's own actions are judged between two steps (`steps.py`); those of a sub-agent here, in
the thread of its tool, since the SDK runs a sub-agent without a seam.

Made for openhands-sdk's `Agent._execute_action_event`; a hook before each tool that may reject
with words, in sub-agents too, would do without it.
"""

from typing import Any

from openhands.sdk import Agent
from openhands.sdk.event import ActionEvent, Event

from rookery.agent.conversation import redact, subagents
from rookery.agent.conversation.auto_answer import UNJUDGED, is_spoken, rejection
from rookery.agent.conversation.steps import RookeryAgent
from rookery.agent.translate.children import ChildWatcher, Refusal

NOBODY = Refusal(UNJUDGED)

_execute = redact.carry_out_discreetly  # what is behind the door tells no secrets


def _execute_judged(self: Agent, conversation: Any, action_event: ActionEvent) -> list[Event]:
    if isinstance(self, RookeryAgent) or is_spoken(action_event):
        return _execute(self, conversation, action_event)
    watcher = conversation._visualizer
    refusal = watcher.permit(action_event) if isinstance(watcher, ChildWatcher) else NOBODY
    if refusal is not None:
        return [rejection(action_event, refusal.reason, by_hook=refusal.by_hook)]
    results = _execute(self, conversation, action_event)
    subagents.used(conversation, action_event, results)
    return results


def install() -> None:
    """From now on, and behind `hiding.install`. Once is enough; twice does no harm."""
    Agent._execute_action_event = _execute_judged  # type: ignore[method-assign]
