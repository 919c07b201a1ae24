"""The sub-agents of a conversation: hooks around their tools, and their end with its turn."""

from collections.abc import Container, Mapping, Sequence
from typing import Any
from uuid import UUID

from openhands.sdk import LocalConversation
from openhands.sdk.event import ActionEvent, Event, HookExecutionEvent, ObservationEvent
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.hooks.types import HookEventType
from openhands.tools.task.impl import TaskExecutor
from openhands.tools.task.manager import Task, TaskStatus

from rookery.agent import stopping, terminal

BLOCKED = "A hook blocked this."
LONGEST_WORDS = 2_000
"""Characters of a failed hook's stderr."""


def blocked(hooks: HookEventProcessor | None, action: ActionEvent) -> str:
    """Why a hook of the parent's forbids a sub-agent's action; "": none does. Blocks."""
    if hooks is None or not hooks.hook_manager.has_hooks(HookEventType.PRE_TOOL_USE):
        return ""
    given = action.action.model_dump() if action.action is not None else {}
    goes_on, results = hooks.hook_manager.run_pre_tool_use(action.tool_name, given)
    if goes_on:
        return ""
    return hooks.hook_manager.get_blocking_reason(results) or BLOCKED


def used(
    hooks: HookEventProcessor | None, action: ActionEvent, results: Sequence[Event]
) -> list[Event]:
    """A sub-agent's tool has run: the parent's `post_tool_use` hooks see it like the parent's own.
    Returns the failed ones. Blocks."""
    done = next((each for each in results if isinstance(each, ObservationEvent)), None)
    if hooks is None or done is None:
        return []
    manager, kind, name = hooks.hook_manager, HookEventType.POST_TOOL_USE, action.tool_name
    given = action.action.model_dump() if action.action is not None else {}
    ran = manager.run_post_tool_use(name, given, done.observation.model_dump())
    return [
        HookExecutionEvent(
            hook_event_type="PostToolUse",
            hook_command=hook.display_command,
            tool_name=name,
            success=False,
            exit_code=result.exit_code,
            stderr=result.stderr[:LONGEST_WORDS],
            error=result.error,
            action_id=action.id,
        )
        for hook, result in zip(manager.config.get_hooks_for_event(kind, name), ran, strict=False)
        if not result.success
    ]


def _executors(conversation: LocalConversation) -> list[TaskExecutor]:
    tools: dict[str, Any] = getattr(conversation.agent, "_tools", None) or {}
    found = (getattr(tool, "executor", None) for tool in tools.values())
    return [executor for executor in found if isinstance(executor, TaskExecutor)]


def remember(conversation: LocalConversation, tasks: Mapping[str, UUID]) -> None:
    """Tasks from before the conversation was loaded: they can be resumed, and no new one gets their
    name."""
    for executor in _executors(conversation):
        found = executor._manager
        with found._tasks_lock:
            for name, id in tasks.items():
                known = Task(id=name, status=TaskStatus.COMPLETED, conversation_id=id)
                found._tasks.setdefault(name, known)


def running(conversation: LocalConversation) -> list[LocalConversation]:
    """The conversations of sub-agents at work, and of those that they started."""
    found: list[LocalConversation] = []
    for executor in _executors(conversation):
        for task in list(executor._manager._tasks.values()):
            if task.conversation is not None:
                found += [task.conversation, *running(task.conversation)]
    return found


def interrupt(conversation: LocalConversation, only: Container[str] | None = None) -> None:
    """End sub-agents and what they run, also while a model is silent. Returns at once. `only`: the
    conversations of some."""
    children = [each for each in running(conversation) if only is None or str(each.id) in only]
    for child in children:
        terminal.interrupt(child)
        stopping.interrupt(child)
    for child in children:
        if child._arun_task is not None:  # else it takes no first step (`ChildWatcher.stop`)
            child.interrupt()
