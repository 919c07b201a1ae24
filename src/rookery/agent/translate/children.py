"""Watches the conversations of sub-agents: the SDK lets a parent's visualizer make one for each
child.

Importing this imports the SDK."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from openhands.sdk.conversation.visualizer import ConversationVisualizerBase
from openhands.sdk.event import ActionEvent, MessageEvent
from openhands.sdk.event.base import Event

from rookery.agent.translate.calls import SUB_AGENTS


class Refusal(NamedTuple):
    """The reason why a sub-agent may not do what it is about to do."""

    reason: str
    by_hook: bool = False


CANCELLED = "The turn was cancelled."
CHILD_CANCELLED = "The user cancelled this sub-agent."


class SubAgentStopped(RuntimeError):
    """The user cancelled the sub-agent, or its parent's turn; the message says which."""


class Listener:
    """Callbacks about sub-agents, in the threads of their tools. `call` is the id of the call that
    started one, `child` its conversation."""

    def child_began(self, action: str, folder: str, events: int, task: str) -> None:
        """Handle a start. `action`: the call's event; `events`: how many it had before."""

    def child_event(self, call: str, child: str, event: Event) -> None: ...

    def child_token(self, call: str, child: str, chunk: Any) -> None: ...

    def child_output(self, child: str, own_call: str, text: str) -> None:
        """Handle output of one of its commands."""

    def permit_child(self, child: str, action: ActionEvent) -> Refusal | None:  # noqa: ARG002
        """Return why it may not do this; None if it may."""
        return Refusal("The user was not asked.")

    def child_used(
        self, call: str, child: str, action: ActionEvent, results: Sequence[Event]
    ) -> None:
        """Handle that one of its tools has run."""


class Watcher(ConversationVisualizerBase):
    """A conversation's visualizer, only for its sub-agents: its own events go elsewhere."""

    def __init__(self, listener: Listener) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._listener = listener
        self._name = "parent"
        self._lock = threading.Lock()
        self._waiting: list[ActionEvent] = []
        self._children: list[ChildWatcher] = []
        self._stopped: dict[str, str] = {}
        """Why sub-agents were cancelled, by the action that starts them: some have not begun."""

    def on_event(self, event: Event) -> None:
        if isinstance(event, ActionEvent) and event.tool_name in SUB_AGENTS:
            with self._lock:
                self._waiting.append(event)
        elif (call := getattr(event, "tool_call_id", None)) is not None:
            with self._lock:
                self._waiting = [one for one in self._waiting if one.tool_call_id != call]
                self._children = [one for one in self._children if one.call != call]

    def create_sub_visualizer(self, agent_id: str) -> "ChildWatcher":
        """Make the watcher of a new sub-agent. The SDK gives only the child's name: its call is the
        one that mentions it, else the first that has no child yet."""
        state: Any = self._state
        with self._lock:
            free = [one for one in self._waiting if not self._has_child(one)]
            named = [one for one in free if _mentions(one, agent_id)]
            parent_call = next(iter(named or free or self._waiting), None)
            call, action = (parent_call.tool_call_id, parent_call.id) if parent_call else ("", "")
            streams = state is not None and state.agent.llm.stream
            child = ChildWatcher(self._listener, call, action, streams=streams)
            self._children.append(child)
            if why := self._stopped.get(action):
                child.stop(why)
            return child

    def _has_child(self, event: ActionEvent) -> bool:
        several = event.tool_name in {"delegate", "workflow"}
        return not several and any(one.call == event.tool_call_id for one in self._children)

    def stop_children(self) -> None:
        """Stop all at a cancel, from any thread. Their shells must be interrupted as well."""
        with self._lock:
            for child in self._children:
                child.stop(CANCELLED)

    def stop_child(self, action: str, why: str) -> tuple[str, set[str]]:
        """Stop one sub-agent, given by the action that started it. Returns the id of its call (""
        if it is over), and the conversations to interrupt: its own, and those of its sub-agents."""
        with self._lock:
            call = next((one.tool_call_id for one in self._waiting if one.id == action), "")
            if not call:
                return "", set()
            self._stopped[action] = why
            children = [one for one in self._children if one.action == action]
            return call, {name for child in children for name in child.stop(why)}


class ChildWatcher(ConversationVisualizerBase):
    """The watcher of one sub-agent. `streams`: whether its model streams, as its parent's does."""

    def __init__(self, listener: Listener, call: str, action: str, *, streams: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.call = call
        self.streams = streams
        self.action = action
        self.why = ""
        """Why it was stopped; "": it was not."""
        self._listener = listener
        self._below: list[ChildWatcher] = []

    def begin(self, folder: str | None, events: int, task: str) -> None:
        """Report that its conversation was made, or read again, and is about to work."""
        if self.action and folder is not None:
            self._listener.child_began(self.action, folder, events, task)

    def on_event(self, event: Event) -> None:
        if self.stopped:
            if isinstance(event, ActionEvent | MessageEvent):
                raise SubAgentStopped(self.why)
        elif self.call:
            self._listener.child_event(self.call, self.conversation, event)

    @property
    def stopped(self) -> bool:
        return bool(self.why)

    def on_token(self, chunk: Any) -> None:
        if self.call and not self.stopped:
            self._listener.child_token(self.call, self.conversation, chunk)

    def permit(self, action: ActionEvent) -> Refusal | None:
        """Return why its conversation may not carry this out; None if it may."""
        return self._listener.permit_child(self.conversation, action)

    def used(self, action: ActionEvent, results: Sequence[Event]) -> None:
        self._listener.child_used(self.call, self.conversation, action, results)

    def on_output(self, call: str, text: str) -> None:
        if self.call:
            self._listener.child_output(self.conversation, call, text)

    @property
    def conversation(self) -> str:
        state: Any = self._state
        return str(state.id) if state is not None else ""

    def create_sub_visualizer(self, agent_id: str) -> "ChildWatcher":  # noqa: ARG002
        """Make the watcher of a sub-agent's sub-agent, which is shown in the same call."""
        child = ChildWatcher(self._listener, self.call, self.action, streams=self.streams)
        self._below.append(child)
        if self.stopped:
            child.stop(self.why)
        return child

    def stop(self, why: str) -> set[str]:
        """Stop; the first reason counts. Returns its and its sub-agents' conversations."""
        self.why = self.why or why
        below = (name for child in self._below for name in child.stop(why))
        return {self.conversation, *below}


def _mentions(event: ActionEvent, name: str) -> bool:
    action: Any = event.action
    tasks = getattr(action, "tasks", None) or {}
    return name in {
        getattr(action, "description", None),
        getattr(action, "resume", None),
        *tasks,
        *(getattr(action, "ids", None) or []),
    }
