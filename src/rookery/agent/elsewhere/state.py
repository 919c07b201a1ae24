"""The interface between a session and its conversation elsewhere: the part of the SDK's state that
turns read, made from the events kept here, and the callbacks."""

from collections.abc import Sequence
from typing import cast

from openhands.sdk.context.view import View
from openhands.sdk.conversation.secret_registry import SecretRegistry
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.conversation.state import ConversationState
from openhands.sdk.event import Event
from openhands.sdk.event.conversation_error import ConversationErrorEvent

from rookery.agent.elsewhere.kept_events import KeptEvents

LIMITS = ("MaxIterationsReached",)


class AwayState:
    blocked_actions: dict[str, str] = {}  # noqa: RUF012 (the SDK's name; always empty)
    get_unmatched_actions = staticmethod(ConversationState.get_unmatched_actions)

    def __init__(self, kept: KeptEvents) -> None:
        self._kept = kept
        self.secret_registry = SecretRegistry()
        self.execution_status = Status.IDLE

    @property
    def events(self) -> Sequence[Event]:
        return list(self._kept.events)

    def active_branch(self, limit: int | None = None) -> Sequence[Event]:
        return self.events if limit is None else self.events[-limit:]

    @property
    def view(self) -> View:
        return View.from_events(self.events)

    def failure(self) -> Exception | None:
        """Return the error that the model failed with over there; None for a limit of ours."""
        if self.execution_status != Status.ERROR:
            return None
        errors = [each for each in self._kept.events if isinstance(each, ConversationErrorEvent)]
        if not errors:
            return RuntimeError("The run failed on the agent server.")
        if errors[-1].code in LIMITS:
            return None
        # Named as the SDK's own, by which failures are told apart.
        return cast(Exception, type(errors[-1].code, (RuntimeError,), {})(errors[-1].detail))

    def rebuild_view(self) -> None: ...
    def __enter__(self) -> "AwayState":
        return self

    def __exit__(self, *_: object) -> None: ...


class Hearing:
    """The callbacks that a session gets from its conversation. Called in any thread."""

    def on_event(self, event: Event) -> None: ...
    def on_delta(self, text: str | None, thought: str | None) -> None: ...
    def named(self, event: Event) -> Event:
        return event

    def tell_user(self, message: str) -> None: ...
    def was_cleared(self, action: str) -> bool:  # noqa: ARG002 (a method)
        return False

    def is_asked(self, action: str) -> bool:  # noqa: ARG002 (a method)
        """Tell whether an action's answer is still awaited."""
        return False

    def give_up(self, message: str) -> None:
        """End the turn, which waits for an answer."""
