"""Agents that an agent starts: a tool's thread waits for them; they are judged and asked for by way
of their parent's session (`gate.py`), are watched by it, and end with its turn."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from typing import Any
from uuid import UUID

from openhands.sdk import LocalConversation
from openhands.sdk.event import ActionEvent, Event, HookExecutionEvent, ObservationEvent
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.hooks.types import HookEventType
from openhands.sdk.mcp.tool import MCPToolDefinition
from openhands.sdk.security.confirmation_policy import NeverConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.tools.task import manager
from openhands.tools.task.impl import TaskExecutor
from openhands.tools.task.manager import Task, TaskManager, TaskStatus

from rookery.agent import terminal
from rookery.agent.conversation.steps import hooks_of
from rookery.agent.mcp import calls
from rookery.agent.provider.llm import RookeryLLM
from rookery.agent.translate.children import ChildWatcher, SubAgentStopped

_resumed: ContextVar[ChildWatcher | None] = ContextVar("resumed", default=None)
_above: ContextVar[LocalConversation | None] = ContextVar("above", default=None)
"""The conversation whose sub-agent is being made."""
_resume = TaskManager._resume_task
_create = TaskManager._create_task


class Below(LocalConversation):
    """The conversation of an agent below: heard by the watcher that its parent's made for it, its
    terminal too. The SDK gives a task that goes on none, and would print its events."""

    def __init__(self, *, agent: Any, visualizer: Any = None, **named: Any) -> None:
        watcher = visualizer or _resumed.get()
        if isinstance(watcher, ChildWatcher) and watcher.streams:
            named["token_callbacks"] = [watcher.on_token]
            agent = agent.model_copy(update={"llm": agent.llm.model_copy(update={"stream": True})})
        if isinstance(agent.llm, RookeryLLM):
            agent.llm.begin_anew()  # a copy of its parent's shares what that has met
        self._parent = _above.get()
        super().__init__(agent=agent, visualizer=watcher, **named)
        self.set_security_analyzer(LLMSecurityAnalyzer())  # else its model's word is not heard
        if isinstance(watcher, ChildWatcher):
            terminal.on_output(self, watcher.on_output)
            about = named.get("observability_metadata") or {}
            task = str(about.get("task_id") or "")
            watcher.begin(self.state.persistence_dir, len(self.state.events), task)

    def run(self) -> None:  # type: ignore[override]
        """On a loop of its own: the SDK's plain way cannot be ended while a model is silent."""
        own: Any = self  # a decorator of the SDK's hides the types
        asyncio.run_coroutine_threadsafe(own.arun(), _loop()).result()

    def _ensure_agent_ready(self) -> None:
        """By now a cancel finds the run; one that came before is not to be missed."""
        if isinstance(self._visualizer, ChildWatcher) and self._visualizer.stopped:
            raise SubAgentStopped
        super()._ensure_agent_ready()

    def _runtime_mcp_tools(self, mcp_config: Any, **_: Any) -> list[Any]:  # noqa: ARG002
        """Those of its parent, over the connections that there are: the SDK would start every
        server once more, and call their tools by other names."""
        above = self._parent.agent.tools_map.values() if self._parent is not None else ()
        return [calls.lend(tool) for tool in above if isinstance(tool, MCPToolDefinition)]

    def set_confirmation_policy(self, policy: Any) -> None:  # noqa: ARG002
        """Neither its parent's nor its own: each action is judged as it is about to run, and so
        the run need not stop for it (`gate.py`)."""
        super().set_confirmation_policy(NeverConfirm())

    def close(self) -> None:
        terminal.on_output(self, None)
        super().close()


BLOCKED = "A hook blocked this."
LONGEST_WORDS = 2_000
"""Characters of what a hook that failed said."""
THREADS = 64
"""In which tools of sub-agents run; one that starts another waits in one of them."""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Of all sub-agents, and none but theirs: what they write and wait for holds nobody else up."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="sub-agent"))
    threading.Thread(target=loop.run_forever, name="sub-agents", daemon=True).start()
    return loop


def _resume_watched(self: TaskManager, resume: str, subagent_type: str) -> Task:
    above = self.parent_conversation._visualizer
    watcher = above.create_sub_visualizer(resume) if above is not None else None
    token = _resumed.set(watcher if isinstance(watcher, ChildWatcher) else None)
    try:
        return _below(self, _resume, resume, subagent_type)
    finally:
        _resumed.reset(token)


def _create_below(self: TaskManager, subagent_type: str, description: str | None) -> Task:
    return _below(self, _create, subagent_type, description)


def _below(self: TaskManager, make: Callable[..., Task], *about: Any) -> Task:
    token = _above.set(self.parent_conversation)
    try:
        return make(self, *about)
    finally:
        _above.reset(token)


def install() -> None:
    """From now on every task is watched so. Once is enough; twice does no harm."""
    manager.LocalConversation = Below  # type: ignore[attr-defined,assignment]
    TaskManager._resume_task = _resume_watched  # type: ignore[method-assign]
    TaskManager._create_task = _create_below  # type: ignore[method-assign]


def blocked(hooks: HookEventProcessor | None, action: ActionEvent) -> str:
    """Why a hook of the parent's forbids what a sub-agent is about to do; "": none does. Blocks: in
    the thread of its tool."""
    if hooks is None or not hooks.hook_manager.has_hooks(HookEventType.PRE_TOOL_USE):
        return ""
    given = action.action.model_dump() if action.action is not None else {}
    goes_on, results = hooks.hook_manager.run_pre_tool_use(action.tool_name, given)
    if goes_on:
        return ""
    return hooks.hook_manager.get_blocking_reason(results) or BLOCKED


def used(conversation: Any, action: ActionEvent, results: Sequence[Event]) -> None:
    """A sub-agent's tool has run: the parent's `post_tool_use` hooks see it as they see the
    parent's own. Blocks: in the thread of the tool."""
    hooks = _hooks_above(conversation)
    done = next((each for each in results if isinstance(each, ObservationEvent)), None)
    if hooks is None or done is None:
        return
    manager, kind, name = hooks.hook_manager, HookEventType.POST_TOOL_USE, action.tool_name
    given = action.action.model_dump() if action.action is not None else {}
    ran = manager.run_post_tool_use(name, given, done.observation.model_dump())
    watcher = conversation._visualizer
    for hook, result in zip(manager.config.get_hooks_for_event(kind, name), ran, strict=False):
        if not result.success and isinstance(watcher, ChildWatcher):
            watcher.on_event(
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
            )


def _hooks_above(conversation: Any) -> HookEventProcessor | None:
    while isinstance(conversation, Below):
        conversation = conversation._parent
    return hooks_of(conversation)


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
    """End their commands and them, also while they wait for their model. Returns at once."""
    children = running(conversation)
    for child in children:
        terminal.interrupt(child)
    for child in children:
        if child._arun_task is not None:  # else it takes no first step (`ChildWatcher.stop`)
            child.interrupt()
