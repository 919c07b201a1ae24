"""Agents that an agent starts: they run in a tool's thread, ask through their parent's session and
end with its turn."""

from collections.abc import Callable
from typing import Any

from openhands.sdk import LocalConversation
from openhands.sdk.event import ActionEvent
from openhands.tools.task.impl import TaskExecutor

from rookery.agent import terminal

type Asker = Callable[[str, list[ActionEvent]], bool]


def _executors(conversation: LocalConversation) -> list[TaskExecutor]:
    tools: dict[str, Any] = getattr(conversation.agent, "_tools", None) or {}
    found = (getattr(tool, "executor", None) for tool in tools.values())
    return [executor for executor in found if isinstance(executor, TaskExecutor)]


def ask_through(conversation: LocalConversation, asker: Asker) -> None:
    """`asker(task, actions)` is called in the tool's thread, and says whether to go on."""
    for executor in _executors(conversation):
        executor._manager._confirmation_handler = asker


def conversation_of(conversation: LocalConversation, task: str) -> str:
    """The id of the conversation that works on a task; "": nobody does."""
    for executor in _executors(conversation):
        found = executor._manager._tasks.get(task)
        if found is not None:
            return str(found.conversation_id)
    return ""


def running(conversation: LocalConversation) -> list[LocalConversation]:
    """The conversations of those that work now, and of those that they started."""
    found: list[LocalConversation] = []
    for executor in _executors(conversation):
        for task in list(executor._manager._tasks.values()):
            if task.conversation is not None:
                found += [task.conversation, *running(task.conversation)]
    return found


def interrupt(conversation: LocalConversation) -> None:
    """End their commands, and them after the step that they are at. Blocks for that long."""
    children = running(conversation)
    for child in children:
        terminal.interrupt(child)
    for child in children:
        child.pause()
