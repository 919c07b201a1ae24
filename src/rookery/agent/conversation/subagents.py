"""The sub-agents of a conversation: the hooks around their tools, and ending them with its turn."""

from collections.abc import Container, Mapping, Sequence
from typing import Any
from uuid import UUID

from openhands.sdk import LocalConversation
from openhands.sdk.event import ActionEvent, Event, HookExecutionEvent, ObservationEvent
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.hooks.types import HookEventType
from openhands.tools.task.impl import TaskExecutor
from openhands.tools.task.manager import Task, TaskStatus

from rookery.agent import private, stopping, terminal

BLOCKED = "A hook blocked this."
LONGEST_WORDS = 2_000
"""Characters of a failed hook's stderr."""


def blocked(hooks: HookEventProcessor | None, action: ActionEvent) -> str:
    """Return why a hook of the parent's forbids a sub-agent's action; "" if none does. Blocks."""
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
    """Run the parent's `post_tool_use` hooks for a tool that a sub-agent has used, as for the
    parent's own tools. Returns the events of the hooks that failed. Blocks."""
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
    executors = (getattr(tool, "executor", None) for tool in tools.values())
    return [executor for executor in executors if isinstance(executor, TaskExecutor)]


def remember(conversation: LocalConversation, tasks: Mapping[str, UUID]) -> None:
    """Register tasks from before the conversation was loaded: they can be resumed, and no new one
    gets their name."""
    for executor in _executors(conversation):
        done = TaskStatus.COMPLETED
        known = [Task(id=name, status=done, conversation_id=id) for name, id in tasks.items()]
        private.remember(executor, known)


def running(conversation: LocalConversation) -> list[LocalConversation]:
    """Return the conversations of sub-agents at work, and of those that they started."""
    children: list[LocalConversation] = []
    for executor in _executors(conversation):
        for task in private.tasks(executor):
            if task.conversation is not None:
                children += [task.conversation, *running(task.conversation)]
    return children


def interrupt(conversation: LocalConversation, only: Container[str] | None = None) -> None:
    """End sub-agents and what they run, even while a model is silent. Returns at once. `only`:
    limit this to the sub-agents with these conversation ids."""
    children = [each for each in running(conversation) if only is None or str(each.id) in only]
    for child in children:
        terminal.interrupt(child)
        stopping.interrupt(child)
    for child in children:
        if private.takes_a_step(child):  # else it takes no first step (`ChildWatcher.stop`)
            child.interrupt()
