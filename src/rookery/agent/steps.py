"""Where the SDK's run is entered between its steps: wishes are taken over there, hooks run in
threads, and a tool is announced when it begins.

While `arun` runs, whatever changes the conversation on the loop's thread would land between a call
and its result, and whatever changes it in another thread would wait for the tool. So everything of
ours happens at the seams below, at which the run itself waits for us.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, override

import openhands.sdk.agent
from openhands.sdk import Agent, LocalConversation
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, Event, ObservationEvent
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.tool import ToolDefinition

from rookery.agent.judgement import UNJUDGED, is_spoken, rejection
from rookery.agent.provider import windows
from rookery.agent.provider.endings import (
    ending_of,
    forget_ending,
    is_cut_short,
    note_condensed,
)

type Tool = ToolDefinition[Any, Any]

PROMPTS = os.path.join(os.path.dirname(openhands.sdk.agent.__file__), "prompts")
MCP_SECONDS = 30.0
RECENT = 200
"""Events among which a call without a result is found: nothing comes behind it but its batch's."""


class Judged(NamedTuple):
    """What becomes of a step's actions; of those that are in neither, that they run."""

    denied: dict[str, str]
    """By their ids, and why: the model is told."""
    waits: bool
    """Some wait for a person, or for somebody who can judge them."""


class Seams:
    """What a session does at the seams of its conversation's run."""

    async def between_steps(self) -> bool:
        """Nothing is pending and the conversation may be changed, in a thread. Says whether a
        message came in."""
        return False

    async def judge(self, actions: list[ActionEvent]) -> "Judged":
        """The actions of a step are known: what is done with each of them."""
        return Judged({}, waits=bool(actions))

    def take_clearance(self, action: ActionEvent) -> bool:  # noqa: ARG002 (a method)
        """Whether it was judged that this may run: once. Called in the tool's thread."""
        return False

    def started(self, action: ActionEvent) -> None:
        """A tool begins. Called in the tool's thread."""

    def mcp_failed(self, name: str, error: Exception) -> None:
        """A server of the session's is left out. Called in a thread."""


class RookeryAgent(Agent):
    """The SDK's agent with our seams. Its class is part of what is kept of a conversation."""

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
            async with conversation._released_state_lock_during_io():
                came_in = await seams.between_steps()
            if came_in:
                # The run compares who spoke last before and after a step: a message within one
                # would have its answer's actions rejected, or be answered twice.
                return
        # A change of the model has put another agent in our place.
        forget_ending(conversation)
        windows.check(conversation)
        await Agent.astep(conversation.agent, conversation, on_event, on_token)
        state = conversation.state
        note_condensed(conversation)
        if ending_of(conversation).stops and state.execution_status == Status.RUNNING:
            state.execution_status = Status.FINISHED

    @override
    def _send_corrective_nudge(self, on_event: Any) -> None:
        """An answer without words is asked for again, unless it was cut short: that ends the turn,
        and the person is told why."""
        if not is_cut_short(self.llm):
            super()._send_corrective_nudge(on_event)

    @override
    async def _arequires_user_confirmation(
        self, conversation: Any, state: Any, action_events: list[ActionEvent], on_event: Any
    ) -> bool:
        hooks = hooks_of(conversation)
        if hooks is not None:
            async with conversation._released_state_lock_during_io():
                for action in action_events:
                    await asyncio.to_thread(hooks._handle_pre_tool_use, action)
        seams = seams_of(conversation)
        asked = [action for action in action_events if action.id not in state.blocked_actions]
        if seams is None:
            return await super()._arequires_user_confirmation(conversation, state, asked, on_event)
        # While the SDK writes down what the model thinks of the risk, others judge: they are asked
        # before it begins.
        loop = asyncio.get_running_loop()
        judging = asyncio.Task(seams.judge(asked), loop=loop, eager_start=True)
        try:
            await super()._arequires_user_confirmation(conversation, state, asked, on_event)
            async with conversation._released_state_lock_during_io():
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
        """The SDK's policy lets nothing through here, and holds nothing up: judgement does."""
        return False

    @override
    async def _aexecute_actions(
        self, conversation: Any, action_events: list[ActionEvent], on_event: Any
    ) -> None:
        hooks = hooks_of(conversation)
        if hooks is None:
            await super()._aexecute_actions(conversation, action_events, on_event)
            return
        results: list[ObservationEvent] = []

        def note(event: Event) -> None:
            on_event(event)
            if isinstance(event, ObservationEvent):
                results.append(event)

        await super()._aexecute_actions(conversation, action_events, note)
        async with conversation._released_state_lock_during_io():
            for result in results:
                await asyncio.to_thread(hooks._handle_post_tool_use, result)

    @override
    def _execute_action_event(self, conversation: Any, action_event: ActionEvent) -> list[Event]:
        seams = seams_of(conversation)
        cleared = is_spoken(action_event) or (
            seams is not None and seams.take_clearance(action_event)
        )
        if not cleared:
            return [rejection(action_event, UNJUDGED)]
        if seams is not None:
            seams.started(action_event)
        return super()._execute_action_event(conversation, action_event)


class Conversation(LocalConversation):
    """The SDK's conversation, with a session at its seams."""

    seams: Seams | None = None
    tool_hooks: HookEventProcessor | None = None
    """The hooks that run around tools and at the end: in threads of ours, since the SDK would run
    them on the loop's."""

    if TYPE_CHECKING:  # a decorator of the SDK's hides these types

        async def arun(self) -> None: ...  # type: ignore[override]
        def send_message(self, message: Any, sender: str | None = None) -> None: ...  # type: ignore[override]
        def generate_title(self, llm: Any = None, max_length: int = 50) -> str: ...  # type: ignore[override]

    @override
    def _runtime_mcp_tools(self, mcp_config: dict[str, Any], **callbacks: Any) -> list[Tool]:
        """Each server by itself: a broken one costs its own tools, and is told of."""
        if not mcp_config:
            return []
        connect = self._mcp_tool_provider
        tools: list[Tool] = []

        def one(name: str) -> Sequence[Tool]:
            client = connect.create_tools({name: mcp_config[name]}, MCP_SECONDS, **callbacks)
            return list(client.tools)

        with ThreadPoolExecutor(max_workers=len(mcp_config)) as pool:
            waiting = {name: pool.submit(one, name) for name in mcp_config}
            for name, found in waiting.items():
                try:
                    tools += found.result()
                except Exception as error:  # noqa: BLE001 - a foreign server can fail in any way
                    if self.seams is not None:
                        self.seams.mcp_failed(name, error)
        return tools


def seams_of(conversation: object) -> Seams | None:
    return conversation.seams if isinstance(conversation, Conversation) else None


def hooks_of(conversation: object) -> HookEventProcessor | None:
    return conversation.tool_hooks if isinstance(conversation, Conversation) else None


def pending(conversation: LocalConversation) -> list[ActionEvent]:
    """The actions that have no result: they wait for a person, or for their turn."""
    state = conversation.state
    return list(state.get_unmatched_actions(state.active_branch(limit=RECENT)))


def waiting_in(conversation: LocalConversation) -> list[ActionEvent]:
    """The actions that wait for a permission."""
    waits = conversation.state.execution_status == Status.WAITING_FOR_CONFIRMATION
    return pending(conversation) if waits else []
