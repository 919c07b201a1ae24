"""Sub-agents' conversations, watched: the SDK lets a parent's visualizer make one for each child.

Importing this imports the SDK.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from openhands.sdk.conversation.visualizer import ConversationVisualizerBase
from openhands.sdk.event import ActionEvent, MessageEvent
from openhands.sdk.event.base import Event

from rookery.agent.translate.calls import SUB_AGENTS

type Sink = Callable[[str, str, Event], None]
"""(the id of the call that started the sub-agent, the sub-agent's conversation, its event)"""
type Began = Callable[[str, str, int, str], None]
"""(the event of the call that started it, its folder, how many events it had before, its task)"""


class Refusal(NamedTuple):
    """Why a sub-agent may not do what it is about to do."""

    reason: str
    by_hook: bool = False


type Permit = Callable[[str, ActionEvent], Refusal | None]
"""(the sub-agent's conversation, what it is about to do): why it may not; None: it may"""
type Token = Callable[[str, str, Any], None]
"""(the call that started the sub-agent, its conversation, a chunk of its model's stream)"""
type Printed = Callable[[str, str, str], None]
"""(the sub-agent's conversation, the id of its call, what its command printed)"""


UNASKED = Refusal("Nobody was asked.")


class SubAgentStopped(RuntimeError):
    """The parent's turn was cancelled: a sub-agent that goes on takes no next step."""


class Watcher(ConversationVisualizerBase):
    """The visualizer to give to a conversation. Its own events go elsewhere; those of its
    sub-agents go to `sink`, what their commands print to `printed`, in the thread of the tool."""

    def __init__(
        self,
        sink: Sink,
        printed: Printed,
        began: Began = lambda *_: None,
        permit: Permit = lambda *_: UNASKED,
        token: Token | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._permit = permit
        self._sink = sink
        self._printed = printed
        self._began = began
        self._token = token
        self._name = "parent"
        self._lock = threading.Lock()
        self._waiting: list[ActionEvent] = []
        self._children: list[ChildWatcher] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, ActionEvent) and event.tool_name in SUB_AGENTS:
            with self._lock:
                self._waiting.append(event)
        elif (call := getattr(event, "tool_call_id", None)) is not None:
            with self._lock:
                self._waiting = [one for one in self._waiting if one.tool_call_id != call]
                self._children = [one for one in self._children if one.call != call]

    def create_sub_visualizer(self, agent_id: str) -> "ChildWatcher":
        """Called as a sub-agent is made. The SDK gives the child's name alone: the call is the one
        that mentions it, else the first that has no child yet."""
        with self._lock:
            free = [one for one in self._waiting if not self._has_child(one)]
            named = [one for one in free if _mentions(one, agent_id)]
            found = next(iter(named or free or self._waiting), None)
            call, action = (found.tool_call_id, found.id) if found else ("", "")
            child = ChildWatcher(
                self._sink, self._printed, call, action, self._began, self._permit, self._tokens()
            )
            self._children.append(child)
            return child

    def _tokens(self) -> Token | None:
        """A sub-agent streams where its parent does."""
        state: Any = self._state
        return self._token if state is not None and state.agent.llm.stream else None

    def _has_child(self, event: ActionEvent) -> bool:
        several = event.tool_name in {"delegate", "workflow"}
        return not several and any(one.call == event.tool_call_id for one in self._children)

    def stop_children(self) -> None:
        """At a cancel, from any thread. Their shells are to be interrupted as well."""
        with self._lock:
            for child in self._children:
                child.stop()


class ChildWatcher(ConversationVisualizerBase):
    def __init__(
        self,
        sink: Sink,
        printed: Printed,
        call: str,
        action: str = "",
        began: Began | None = None,
        permit: Permit = lambda *_: UNASKED,
        token: Token | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.call = call
        self._token = token
        self._permit = permit
        self._action = action
        self._began = began
        self._sink = sink
        self._printed = printed
        self._stopped = threading.Event()
        self._below: list[ChildWatcher] = []

    def begin(self, folder: str | None, events: int, task: str) -> None:
        """Its conversation is made, or read again, and about to work."""
        if self._began is not None and self._action and folder is not None:
            self._began(self._action, folder, events, task)

    def on_event(self, event: Event) -> None:
        if self._stopped.is_set():
            if isinstance(event, ActionEvent | MessageEvent):
                raise SubAgentStopped("The turn was cancelled.")
            return  # how it ends is its own affair
        if self.call:
            self._sink(self.call, self.conversation, event)

    @property
    def streams(self) -> bool:
        return self._token is not None

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def on_token(self, chunk: Any) -> None:
        if self.call and self._token is not None and not self._stopped.is_set():
            self._token(self.call, self.conversation, chunk)

    def permit(self, action: ActionEvent) -> Refusal | None:
        """Why its conversation may not carry this out; None: it may."""
        return self._permit(self.conversation, action)

    def on_output(self, call: str, text: str) -> None:
        if self.call:
            self._printed(self.conversation, call, text)

    @property
    def conversation(self) -> str:
        state: Any = self._state
        return str(state.id) if state is not None else ""

    def create_sub_visualizer(self, agent_id: str) -> "ChildWatcher":  # noqa: ARG002
        """A sub-agent's sub-agent is shown in the same call."""
        child = ChildWatcher(
            self._sink,
            self._printed,
            self.call,
            self._action,
            self._began,
            self._permit,
            self._token,  # which there is only where it streams itself
        )
        self._below.append(child)
        return child

    def stop(self) -> None:
        self._stopped.set()
        for child in self._below:
            child.stop()


def _mentions(event: ActionEvent, name: str) -> bool:
    action: Any = event.action
    tasks = getattr(action, "tasks", None) or {}
    return name in {
        getattr(action, "description", None),
        getattr(action, "resume", None),
        *tasks,
        *(getattr(action, "ids", None) or []),
    }
