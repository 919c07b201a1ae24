"""A conversation whose run was broken off, made valid again."""

from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import AgentErrorEvent, CondensationRequest
from openhands.sdk.event.error_classification import AGENT_OUTCOME

from rookery.agent.conversation.steps import Conversation, pending

STOPPED = (
    "Rookery was stopped while this ran, or just before. It may have taken effect: check before "
    "you repeat it."
)
NOT_RUN = "This was not run: it waited for permission, and the user moved on."


def end_calls(conversation: Conversation, words: str = "") -> None:
    """Every open call gets a result; `words`: of the user, who rejects them. Blocks."""
    if not (left := pending(conversation)):
        return
    if words:
        conversation.reject_pending_actions(words)
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
            conversation._on_event(ended)


def drop_request(conversation: Conversation) -> None:
    """A failed request to condense: it would fail every later step. Blocks."""
    state = conversation.state
    if not state.view.unhandled_condensation_request:
        return
    branch = state.active_branch()
    wishes = [n for n, event in enumerate(branch) if isinstance(event, CondensationRequest)]
    if wishes and wishes[-1] > 0:
        conversation.navigate_to(branch[wishes[-1] - 1].id)


def pause(conversation: Conversation) -> bool:
    """Between two steps: the run ends here. Blocks."""
    with conversation.state as state:
        state.execution_status = Status.PAUSED
    return True
