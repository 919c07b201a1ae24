"""The last check around a tool, for every agent: an action that was not judged does not run,
whatever the SDK's own policy says, and secrets are removed from its result before the model sees
it. Plugins are turned off: the SDK would run the hooks and start the MCP servers of those in a
session's directory as soon as it is opened.

The session's own actions are judged between two steps (`steps.py`), those of a sub-agent here, in
the thread of its tool. A key in a file that the agent reads would otherwise be in every later
request to the provider.

Made for openhands-sdk 1.58 (`Agent._execute_action_event`, `load_available_plugins`). Unnecessary
once a hook before each tool can reject with a reason, one after it can change the result, both run
in sub-agents, and plugins can be turned off."""

import json
import os
import stat
from typing import Any

from openhands.sdk import Agent
from openhands.sdk.conversation.impl import local_conversation
from openhands.sdk.event import ActionEvent, AgentErrorEvent, Event, UserRejectObservation
from openhands.sdk.tool.builtins import FinishAction, ThinkAction
from pydantic import BaseModel

from rookery.agent.sdk_patches import Around, wrap
from rookery.agent.translate import patches
from rookery.agent.translate.children import ChildWatcher, Refusal
from rookery.models.secrets import KNOWN

UNJUDGED = "This action could not be judged, so it was not carried out."
NOBODY = Refusal(UNJUDGED)
UNREADABLE = "{"
LARGEST = 20_000_000
"""Bytes of a file that a tool is given."""


class JudgingAgent(Agent):
    """An agent whose session judges its actions between two steps."""


def is_spoken(action: ActionEvent) -> bool:
    """Tell whether an action is only a way of speaking, which does nothing."""
    return isinstance(action.action, FinishAction | ThinkAction)


def rejection(action: ActionEvent, reason: str, *, by_hook: bool = False) -> UserRejectObservation:
    """Return a rejection, which the model gets instead of a result."""
    return UserRejectObservation(
        action_id=action.id,
        tool_name=action.tool_name,
        tool_call_id=action.tool_call_id,
        rejection_reason=reason,
        rejection_source="hook" if by_hook else "user",
    )


def _execute(
    execute: Around, self: Agent, conversation: Any, action_event: ActionEvent
) -> list[Event]:
    is_judged = isinstance(self, JudgingAgent) or is_spoken(action_event)
    watcher = conversation._visualizer
    if not is_judged:
        refusal = watcher.permit(action_event) if isinstance(watcher, ChildWatcher) else NOBODY
        if refusal is not None:
            return [rejection(action_event, refusal.reason, by_hook=refusal.by_hook)]
    if endless := _endless(conversation, action_event):
        tool, call = action_event.tool_name, action_event.tool_call_id
        return [AgentErrorEvent(error=endless, tool_name=tool, tool_call_id=call)]
    results = [without_secrets(event) for event in execute(self, conversation, action_event)]
    if not is_judged and isinstance(watcher, ChildWatcher):
        watcher.used(action_event, results)
    return results


def _endless(conversation: Any, action_event: ActionEvent) -> str:
    """Return why a tool on a file would never end, not even if cancelled; "" if it would. Reading a
    pipe waits for a writer, and some tools read a file whole, whatever its size."""
    action: Any = action_event.action
    named = [getattr(action, key, "") or "" for key in ("path", "file_path")]
    if isinstance(patch := getattr(action, "patch", None), str):
        named += patches.paths_in(patch)
    for path in filter(None, named):
        place = os.path.join(conversation.workspace.working_dir, os.path.expanduser(path))
        try:
            about = os.stat(place)
        except (OSError, ValueError):
            continue
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            return f"{path} is a pipe, a socket or a device, not a file."
        if stat.S_ISREG(about.st_mode) and about.st_size > LARGEST:
            size = about.st_size // 1_000_000
            return f"{path} has {size} MB. Look at a part of it in the terminal (head, sed -n)."
    return ""


def _read(get: Around, self: Agent, tool_call: Any, *more: Any, **named: Any) -> Any:
    """Report arguments that cannot be parsed to the model. For some the SDK has no error: too
    deeply nested, or with a number of thousands of digits; the turn would fail."""
    try:
        json.loads(tool_call.arguments)
    except json.JSONDecodeError:
        pass
    except (ValueError, RecursionError):
        tool_call = tool_call.model_copy(update={"arguments": UNREADABLE})
    return get(self, tool_call, *more, **named)


def _no_plugins(**_: Any) -> dict[str, Any]:
    return {}


def install() -> None:
    wrap(Agent, "_execute_action_event", _execute)
    wrap(Agent, "_get_action_event", _read)
    theirs: Any = local_conversation
    theirs.load_available_plugins = _no_plugins


def without_secrets[T](value: T) -> T:
    """Remove secrets from the texts of a value; what holds none is not copied."""
    changed: Any = value
    match value:
        case str():
            hidden = KNOWN.text(value)
            changed = value if hidden == value else hidden
        case BaseModel():
            fields = {name: getattr(value, name) for name in type(value).model_fields}
            cleaned = {name: without_secrets(inner) for name, inner in fields.items()}
            news = {name: inner for name, inner in cleaned.items() if inner is not fields[name]}
            changed = value.model_copy(update=news) if news else value
        case dict():
            inner = {key: without_secrets(each) for key, each in value.items()}
            changed = inner if any(inner[key] is not value[key] for key in value) else value
        case list() | tuple():
            items = [without_secrets(each) for each in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            whole = items if isinstance(value, list) else tuple(items)
            changed = value if same else whole
    return changed  # type: ignore[no-any-return]
