"""Agents that an agent starts: they run in a tool's thread, are judged and asked for through their
parent's session (`gate.py`), are watched by it, and end with its turn."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from openhands.sdk import LocalConversation
from openhands.sdk.security.confirmation_policy import NeverConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.tools.task import manager
from openhands.tools.task.impl import TaskExecutor
from openhands.tools.task.manager import Task, TaskManager, TaskStatus

from rookery.agent import terminal
from rookery.agent.translate.children import ChildWatcher

_resumed: ContextVar[ChildWatcher | None] = ContextVar("resumed", default=None)
_resume = TaskManager._resume_task


class Below(LocalConversation):
    """The conversation of an agent below: heard by the watcher that its parent's made for it, its
    terminal too. The SDK gives a task that goes on none, and would print its events."""

    def __init__(self, *, visualizer: Any = None, **named: Any) -> None:
        watcher = visualizer or _resumed.get()
        super().__init__(visualizer=watcher, **named)
        self.set_security_analyzer(LLMSecurityAnalyzer())  # else its model's word is not heard
        if isinstance(watcher, ChildWatcher):
            terminal.on_output(self, watcher.on_output)
            about = named.get("observability_metadata") or {}
            task = str(about.get("task_id") or "")
            watcher.begin(self.state.persistence_dir, len(self.state.events), task)

    def set_confirmation_policy(self, policy: Any) -> None:  # noqa: ARG002
        """Neither its parent's nor its own: each action is judged as it is about to run, and so
        the run need not stop for it (`gate.py`)."""
        super().set_confirmation_policy(NeverConfirm())

    def close(self) -> None:
        terminal.on_output(self, None)
        super().close()


def _resume_watched(self: TaskManager, resume: str, subagent_type: str) -> Task:
    above = self.parent_conversation._visualizer
    watcher = above.create_sub_visualizer(resume) if above is not None else None
    token = _resumed.set(watcher if isinstance(watcher, ChildWatcher) else None)
    try:
        return _resume(self, resume, subagent_type)
    finally:
        _resumed.reset(token)


def install() -> None:
    """From now on every task is watched so. Once is enough; twice does no harm."""
    manager.LocalConversation = Below  # type: ignore[attr-defined,assignment]
    TaskManager._resume_task = _resume_watched  # type: ignore[method-assign]


def _executors(conversation: LocalConversation) -> list[TaskExecutor]:
    tools: dict[str, Any] = getattr(conversation.agent, "_tools", None) or {}
    found = (getattr(tool, "executor", None) for tool in tools.values())
    return [executor for executor in found if isinstance(executor, TaskExecutor)]


def remember(conversation: LocalConversation, tasks: Mapping[str, UUID]) -> None:
    """Tasks that were given before the conversation was loaded: they can go on, and a new one is
    not called as they are."""
    for executor in _executors(conversation):
        found = executor._manager
        with found._tasks_lock:
            for name, id in tasks.items():
                known = Task(id=name, status=TaskStatus.COMPLETED, conversation_id=id)
                found._tasks.setdefault(name, known)


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
