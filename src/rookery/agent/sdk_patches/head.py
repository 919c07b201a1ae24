"""Keeps a conversation at its newest event, after a kill too.

The SDK writes every event as it comes, but which one is the newest (its HEAD) only after a step. A
kill within a command would leave the HEAD before the call, and neither the model nor a replay would
know that the command ran. So the HEAD is moved to the newest event, unless it was moved on purpose
since (a rewind, a new start).

Made for openhands-sdk 1.58 (`ConversationState.leaf_event_id`). Unnecessary once the HEAD is saved
with each event."""

from openhands.sdk.conversation.state import ConversationState
from openhands.sdk.event.conversation_state import ConversationStateUpdateEvent

MOVED = "rookery_head_moved_at"
"""In the agent's own state: how many events there were when the HEAD was moved."""


def note_move(state: ConversationState) -> None:
    """Note that the HEAD was moved on purpose: `catch_up` ignores what came before."""
    state.agent_state = {**state.agent_state, MOVED: len(state.events)}


def catch_up(state: ConversationState) -> None:
    """Move a HEAD that a kill left behind to the newest event. Reads files."""
    moved = state.agent_state.get(MOVED)
    if type(moved) is not int:  # new, or written by an older build
        note_move(state)
        return
    events = state.events
    for place in range(len(events) - 1, max(moved, 0) - 1, -1):
        event = events[place]
        if isinstance(event, ConversationStateUpdateEvent):
            continue  # a note beside the conversation
        if event.id != state.leaf_event_id:
            with state:
                state.leaf_event_id = event.id
                state.head_is_empty = False
            state.rebuild_view()
        return
