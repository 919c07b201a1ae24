"""The SDK's agent and conversation, extended with a session that is called between the steps of a
run: there it changes the conversation, judges actions, and runs hooks in threads.

While `arun` runs, a change on the loop's thread would come between a call and its result, and one
in another thread would wait for the tool."""

import asyncio
import os
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, override

import openhands.sdk.agent
from openhands.sdk import LLM, Agent, LocalConversation
from openhands.sdk.context.condenser import CondenserBase, LLMSummarizingCondenser
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, AgentErrorEvent, Event, ObservationEvent
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.hooks.types import HookEventType
from openhands.sdk.tool import ToolDefinition
from openhands.sdk.tool.builtins import FinishAction

from rookery.agent import private
from rookery.agent.conversation.hooks import ProjectHooks
from rookery.agent.mcp.connections import Connections, Listener
from rookery.agent.sdk_patches import head
from rookery.agent.sdk_patches.gate import UNJUDGED, JudgingAgent, is_spoken, rejection
from rookery.agent.sdk_patches.llm import RookeryLLM

type Tool = ToolDefinition[Any, Any]

PROMPTS = os.path.join(os.path.dirname(openhands.sdk.agent.__file__), "prompts")
DROPPED = "This was not carried out: you ended the turn before it."


class Judged(NamedTuple):
    """The decision about a step's actions. Those that are in neither collection run."""

    denied: dict[str, str]
    """By their ids, with the reason for the model."""
    waits: bool
    """Some wait for the user, or for a client that can judge them."""


class Seams(Listener):
    """The calls that a session gets while its conversation runs."""

    async def between_steps(self) -> bool:
        """Change the conversation if need be, in a thread: nothing is pending. Returns whether a
        message came in."""
        return False

    def foresee(self, actions: list[ActionEvent]) -> None:
        """Begin to judge these actions, about which `judge` will be asked in a moment. An empty
        list: give up what was begun."""

    async def judge(self, actions: list[ActionEvent]) -> Judged:
        """Decide what to do with each action of a step."""
        return Judged({}, waits=bool(actions))

    def refusal(self, action: ActionEvent) -> str:  # noqa: ARG002 (a method)
        """Return why this action may not run now; "" if it was judged and may run, once. Called in
        the tool's thread."""
        return UNJUDGED

    def started(self, action: ActionEvent) -> None:
        """Handle the start of a tool. Called in its thread."""


class RookeryAgent(JudgingAgent):
    """The SDK's agent with judging and hooks. Its class name is stored with a conversation."""

    @property
    @override
    def prompt_dir(self) -> str:
        return PROMPTS

    @override
    async def astep(  # type: ignore[override]
        self, conversation: Any, on_event: Any, on_token: Any = None
    ) -> None:
        seams = seams_of(conversation)
        if seams is not None and not pending(conversation):
            async with private.unlocked(conversation):
                came_in = await seams.between_steps()
            if came_in:
                # The run compares who spoke last before and after a step: a message within one
                # would have its answer's actions rejected, or be answered twice.
                return
        # Not `self`: a change of the model puts another agent in its place.
        plain: Any = Agent  # a decorator of the SDK's hides the types
        await plain.astep(conversation.agent, conversation, on_event, on_token)

    @override
    async def _ahandle_tool_calls(
        self,
        message: Any,
        llm_response: Any,
        conversation: Any,
        state: Any,
        on_event: Any,
        *more: Any,
    ) -> None:
        """Begin to judge a step's actions as soon as the last of them is known, before it is
        written down. Not if there is a hook before tools: it may change what is judged."""
        seams, handle = seams_of(conversation), super()._ahandle_tool_calls
        if seams is None or hooks_of(conversation, HookEventType.PRE_TOOL_USE):
            await handle(message, llm_response, conversation, state, on_event, *more)
            return
        made: list[ActionEvent] = []

        def note(event: Event) -> None:
            if isinstance(event, ActionEvent):
                made.append(event)
                if len(made) == len(message.tool_calls):
                    seams.foresee([each for each in made if each.action is not None])
            on_event(event)

        try:
            await handle(message, llm_response, conversation, state, note, *more)
        finally:
            seams.foresee([])

    @override
    async def _arequires_user_confirmation(
        self, conversation: Any, state: Any, action_events: list[ActionEvent], on_event: Any
    ) -> bool:
        action_events, dropped = _until_finish(action_events)
        for action in dropped:
            name, call = action.tool_name, action.tool_call_id
            on_event(AgentErrorEvent(error=DROPPED, tool_name=name, tool_call_id=call))
        hooks = hooks_of(conversation, HookEventType.PRE_TOOL_USE)
        if hooks is not None:
            async with private.unlocked(conversation):
                for action in action_events:
                    await asyncio.to_thread(private.before_tool, hooks, action)
        seams = seams_of(conversation)
        asked = [action for action in action_events if action.id not in state.blocked_actions]
        if seams is None:
            return await super()._arequires_user_confirmation(conversation, state, asked, on_event)
        # The client judges while the SDK writes down the model's own view of the risk.
        loop = asyncio.get_running_loop()
        judging = asyncio.Task(seams.judge(asked), loop=loop, eager_start=True)
        try:
            await super()._arequires_user_confirmation(conversation, state, asked, on_event)
            async with private.unlocked(conversation):
                judged = await judging
        finally:
            judging.cancel()
        for name, reason in judged.denied.items():
            state.block_action(name, reason)
        if judged.waits:
            state.execution_status = Status.WAITING_FOR_CONFIRMATION
        return judged.waits

    @staticmethod
    @override
    def _set_confirmation_status(state: Any, risks: Any) -> bool:
        """Return False: the session's judgement decides, not the SDK's policy."""
        return False

    @override
    async def _aexecute_actions(
        self, conversation: Any, action_events: list[ActionEvent], on_event: Any
    ) -> None:
        hooks = hooks_of(conversation, HookEventType.POST_TOOL_USE)
        if hooks is None:
            await super()._aexecute_actions(conversation, action_events, on_event)
            return
        results: list[ObservationEvent] = []

        def note(event: Event) -> None:
            on_event(event)
            if isinstance(event, ObservationEvent):
                results.append(event)

        await super()._aexecute_actions(conversation, action_events, note)
        async with private.unlocked(conversation):
            for result in results:
                await asyncio.to_thread(private.after_tool, hooks, result)

    @override
    def _execute_action_event(self, conversation: Any, action_event: ActionEvent) -> list[Event]:
        seams = seams_of(conversation)
        if not is_spoken(action_event):
            reason = UNJUDGED if seams is None else seams.refusal(action_event)
            if reason:
                return [rejection(action_event, reason)]
        if seams is not None:
            seams.started(action_event)
        return super()._execute_action_event(conversation, action_event)


class Conversation(LocalConversation):
    seams: Seams | None = None
    tool_hooks: HookEventProcessor | None = None
    """Those around tools and at the end, in our threads: the SDK would run them on the loop's."""
    project_hooks = ProjectHooks(None, {})
    connections: Connections | None = None
    """To its MCP servers."""
    condenser_follows = True
    """The conversation's own model condenses it."""

    if TYPE_CHECKING:  # a decorator of the SDK's hides these types

        async def arun(self) -> None: ...  # type: ignore[override]
        def send_message(self, message: Any, sender: str | None = None) -> None: ...  # type: ignore[override]
        def generate_title(self, llm: Any = None, max_length: int = 50) -> str: ...  # type: ignore[override]

    @override
    def navigate_to(self, event_id: str | None) -> None:
        with self.state:
            super().navigate_to(event_id)
            head.note_move(self.state)

    @override
    def _condenser_for_switched_llm(self, current_llm: LLM, new_llm: LLM) -> CondenserBase | None:
        """Switch the condenser to the new model. The SDK does so only if the condenser streams like
        the conversation; ours never does, so summaries would still go to the old provider."""
        condenser = self.agent.condenser
        if not self.condenser_follows or not isinstance(condenser, LLMSummarizingCondenser):
            return condenser
        own = quiet_copy(new_llm)
        if own.usage_id in self.llm_registry.list_usage_ids():
            before = self.llm_registry.get(own.usage_id)
            self.llm_registry.remove(own.usage_id)
            self.llm_registry.add(own)
            own.restore_metrics(before.metrics)  # keeps the cost so far
        return condenser.model_copy(update={"llm": own})

    @override
    def _runtime_mcp_tools(self, mcp_config: dict[str, Any], **_: Any) -> list[Tool]:
        """Connect each server by itself: a broken or slow one costs only its own tools."""
        if not mcp_config or self.connections is None:
            return []
        return list(self.connections.connect(mcp_config))

    @override
    def close(self) -> None:
        if self.connections is not None:
            self.connections.close()
        super().close()


def _until_finish(actions: list[ActionEvent]) -> tuple[list[ActionEvent], list[ActionEvent]]:
    """Split the actions at `finish`: the SDK silently drops those after it."""
    for at, action in enumerate(actions, 1):
        if isinstance(action.action, FinishAction):
            return actions[:at], actions[at:]
    return actions, []


def quiet_copy(llm: LLM) -> LLM:
    """Return a copy of the model for the condenser, whose text is not streamed."""
    own = llm.model_copy(update={"usage_id": "condenser", "stream": False})
    own.reset_metrics()
    if isinstance(own, RookeryLLM):
        own.start_over()  # a summary that was written need not help
    return own


def seams_of(conversation: object) -> Seams | None:
    return conversation.seams if isinstance(conversation, Conversation) else None


def hooks_of(conversation: object, kind: HookEventType) -> HookEventProcessor | None:
    """Return the hooks of a conversation; None if it has none of this kind."""
    hooks = conversation.tool_hooks if isinstance(conversation, Conversation) else None
    return hooks if hooks is not None and hooks.hook_manager.has_hooks(kind) else None


def pending(conversation: LocalConversation) -> list[ActionEvent]:
    """Return the actions without a result: they wait for the user, or for their turn."""
    state = conversation.state
    return list(state.get_unmatched_actions(state.active_branch()))


def waiting_in(conversation: LocalConversation) -> list[ActionEvent]:
    """Return the actions that wait for permission."""
    waits = conversation.state.execution_status == Status.WAITING_FOR_CONFIRMATION
    return pending(conversation) if waits else []


def last_before(events: Iterable[Event], moment: float) -> str | None:
    """Return the last event before `moment`; the first of all if none is: a fork has at
    least one."""
    last: str | None = None
    for event in events:
        if last is not None and datetime.fromisoformat(event.timestamp).timestamp() >= moment:
            break
        last = event.id
    return last
