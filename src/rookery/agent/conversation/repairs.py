"""Repairs a conversation whose run was broken off, so that the model accepts it again."""

from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import AgentErrorEvent, CondensationRequest
from openhands.sdk.event.error_classification import AGENT_OUTCOME

from rookery.agent import private
from rookery.agent.conversation.steps import Conversation, pending

STOPPED = (
    "Rookery was stopped while this ran, or just before. It may have taken effect: check before "
    "you repeat it."
)
NOT_RUN = "This was not run: it waited for permission, and the user moved on."


def end_calls(conversation: Conversation, reason: str = "") -> None:
    """Give every open call a result. `reason`: the user's, if the user rejects them. Blocks."""
    if not (left := pending(conversation)):
        return
    if reason:
        conversation.reject_pending_actions(reason)
        return
    waits = conversation.state.execution_status == Status.WAITING_FOR_CONFIRMATION
    with conversation.state:
        for action in left:
            ended = AgentErrorEvent(
                error=NOT_RUN if waits else STOPPED,
                tool_name=action.tool_name,
                tool_call_id=action.tool_call_id,
                classification=AGENT_OUTCOME,
            )
            private.add_event(conversation, ended)


def drop_request(conversation: Conversation) -> None:
    """Drop a failed request to condense, which would make every later step fail. Blocks."""
    state = conversation.state
    if not state.view.unhandled_condensation_request:
        return
    branch = state.active_branch()
    wishes = [n for n, event in enumerate(branch) if isinstance(event, CondensationRequest)]
    if wishes and wishes[-1] > 0:
        conversation.navigate_to(branch[wishes[-1] - 1].id)


def pause(conversation: Conversation) -> bool:
    """End the run here, between two steps. Blocks."""
    with conversation.state as state:
        state.execution_status = Status.PAUSED
    return True
