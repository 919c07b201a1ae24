"""Sub-agents that work like their parent: watched and judged by its session, and ended with its
turn. An answer that was cut off or refused is not asked for again, and a window that is too small
is detected before the model is asked.

Made for openhands-sdk 1.58 and openhands-tools 1.58, whose `TaskManager` makes sub-agents of the
SDK's own classes, without a visualizer when a task is resumed. Unnecessary once a conversation can
choose the classes of its sub-agents and their conversations."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from typing import Any

from openhands.sdk import Agent, LocalConversation, Message, TextContent
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.response_utils import get_agent_final_response
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import Condensation, MessageEvent
from openhands.sdk.security.confirmation_policy import NeverConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.tools.task import manager
from openhands.tools.task.manager import Task, TaskManager

from rookery.agent import terminal
from rookery.agent.provider import windows
from rookery.agent.provider.failures import failure_of
from rookery.agent.sdk_patches import Around, llm, wrap
from rookery.agent.sdk_patches.answers import MAX_TOKENS
from rookery.agent.sdk_patches.imports.mcp_provider import Provider
from rookery.agent.translate.children import ChildWatcher, SubAgentStopped

CUT = "The sub-agent's model reached its output limit. It wrote:"
REFUSED = "The sub-agent's model refused to answer:"
GO_ON = "Go on."
EMPTY = "Your last response had neither words nor a tool call. Go on, or answer the user."
THREADS = 64
"""For the tools of sub-agents; one that starts another sub-agent waits in one of them."""

_resumed: ContextVar[ChildWatcher | None] = ContextVar("resumed", default=None)
_parent: ContextVar[LocalConversation | None] = ContextVar("parent", default=None)
"""The conversation whose sub-agent is being made."""


class Unfinished(Exception):
    """Why a sub-agent ended without a result: the task's error."""


class SubAgentConversation(LocalConversation):
    """A sub-agent's conversation, observed by the watcher that its parent's watcher made for it; so
    is its terminal. The SDK gives a resumed task none, and would print its events."""

    def __init__(self, *, agent: Any, visualizer: Any = None, **named: Any) -> None:
        watcher = visualizer or _resumed.get()
        if isinstance(watcher, ChildWatcher) and watcher.streams:
            named["token_callbacks"] = [watcher.on_token]
            agent = agent.model_copy(update={"llm": agent.llm.model_copy(update={"stream": True})})
        if isinstance(agent.llm, llm.RookeryLLM):
            agent.llm.start_over()  # a copy shares what its parent's has met
        self._parent = _parent.get()
        named.setdefault("mcp_tool_provider", Provider())
        named["hook_config"] = None  # its file's hooks are commands that nobody judged
        super().__init__(agent=agent, visualizer=watcher, **named)
        self.set_security_analyzer(LLMSecurityAnalyzer())  # else its model's risk is ignored
        if isinstance(watcher, ChildWatcher):
            terminal.on_output(self, watcher.on_output)
            about = named.get("observability_metadata") or {}
            task = str(about.get("task_id") or "")
            watcher.begin(self.state.persistence_dir, len(self.state.events), task)

    def run(self) -> None:  # type: ignore[override]
        """Run on a loop of its own: the SDK's run cannot be interrupted while a model is silent."""
        own: Any = self  # a decorator of the SDK's hides the types
        asyncio.run_coroutine_threadsafe(own.arun(), _loop()).result()

    def _ensure_agent_ready(self) -> None:
        """Raise if a cancel came before the run; from here on a cancel finds it."""
        if isinstance(self._visualizer, ChildWatcher) and self._visualizer.stopped:
            raise SubAgentStopped(self._visualizer.why)
        super()._ensure_agent_ready()

    def _runtime_mcp_tools(self, mcp_config: Any, **_: Any) -> list[Any]:  # noqa: ARG002
        """Return the parent's tools, over the same connections: the SDK would start every server
        again, and name their tools differently."""
        if self._parent is None or not self._parent.agent.mcp_config:
            return []
        from rookery.agent.sdk_patches import mcp_calls

        return mcp_calls.lend(self._parent.agent.tools_map.values())

    def set_confirmation_policy(self, policy: Any) -> None:  # noqa: ARG002
        """Ignore any policy: `gate.py` judges each action just before it runs."""
        super().set_confirmation_policy(NeverConfirm())

    def close(self) -> None:
        terminal.on_output(self, None)
        super().close()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop for all sub-agents, and only them: they delay nothing else."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="sub-agent"))
    threading.Thread(target=loop.run_forever, name="sub-agents", daemon=True).start()
    return loop


def _resume(original: Around, self: TaskManager, **named: Any) -> Task:
    above = self.parent_conversation._visualizer
    watcher = above.create_sub_visualizer(named["resume"]) if above is not None else None
    token = _resumed.set(watcher if isinstance(watcher, ChildWatcher) else None)
    try:
        return _make(original, self, **named)
    finally:
        _resumed.reset(token)


def _make(make: Around, self: TaskManager, **named: Any) -> Task:
    token = _parent.set(self.parent_conversation)
    try:
        task: Task = make(self, **named)
        return task
    finally:
        _parent.reset(token)


def _run(run: Around, self: TaskManager, task_id: str, conversation: LocalConversation) -> None:
    """Run a sub-agent. Raises Unfinished."""
    watcher = conversation._visualizer
    try:
        run(self, task_id, conversation)
    except ConversationRunError as error:
        _check_stopped(watcher)
        message = llm.refused_in(error) or failure_of(error).message
        raise Unfinished(message) from error
    _check_stopped(watcher)
    ending = llm.ending_of(conversation.agent)
    if ending.reason:
        answer = get_agent_final_response(conversation.state.events)
        message = CUT if ending.reason == MAX_TOKENS else REFUSED
        raise Unfinished(f"{message}\n{answer}" if answer else f"{message[:-1]}.")


def _check_stopped(watcher: object) -> None:
    """Check that the sub-agent was not stopped. Raises Unfinished."""
    if isinstance(watcher, ChildWatcher) and watcher.stopped:
        raise Unfinished(watcher.why)


def _check_window(conversation: Any) -> None:
    """Check the size before a step. Raises TooSmall, unless another model answers instead."""
    model = conversation.agent.llm
    while True:
        try:
            return windows.check(conversation, getattr(model, "answering", model))
        except windows.TooSmall as error:
            if not isinstance(model, llm.RookeryLLM) or not model.yields_to(error):
                raise


def _note_condensed(conversation: Any) -> None:
    """Note a step that only condensed the conversation. Raises TooSmall if that does not end."""
    events, model = conversation.state.events, conversation.agent.llm
    if isinstance(model, llm.RookeryLLM) and len(events) and isinstance(events[-1], Condensation):
        try:
            model.pressure.condense(model.answering.effective_max_input_tokens)
        except windows.TooSmall as error:
            if not model.yields_to(error):
                raise


async def _step(
    step: Around, self: Agent, conversation: Any, on_event: Any, on_token: Any = None
) -> None:
    """Run one step of any agent. Raises TooSmall."""
    llm.forget_ending(conversation.agent)
    _check_window(conversation)
    await step(self, conversation, on_event, on_token)
    _note_condensed(conversation)
    state, agent = conversation.state, conversation.agent
    if llm.ending_of(agent).stops and state.execution_status == Status.RUNNING:
        state.execution_status = Status.FINISHED
    if llm.wants_to_go_on(agent) and state.execution_status == Status.FINISHED:
        message = Message(role="user", content=[TextContent(text=GO_ON)])
        on_event(MessageEvent(source="environment", llm_message=message))
        state.execution_status = Status.RUNNING


def _nudge(_nudge: Around, self: Agent, on_event: Any) -> None:
    """Ask again after an empty answer, unless it was cut short: that ends the turn. The SDK asks
    for a tool call, though an answer may be all that is left."""
    if not llm.ending_of(self).reason:
        message = Message(role="user", content=[TextContent(text=EMPTY)])
        on_event(MessageEvent(source="environment", llm_message=message))


def install() -> None:
    manager.LocalConversation = SubAgentConversation  # type: ignore[attr-defined,assignment]
    wrap(TaskManager, "_resume_task", _resume)
    wrap(TaskManager, "_create_task", _make)
    wrap(TaskManager, "_run_until_finished", _run)
    wrap(Agent, "astep", _step)
    wrap(Agent, "_send_corrective_nudge", _nudge)
