"""Where a conversation stands, after a kill too.

Every event is written as it comes, but the SDK writes down which of them is the newest (its HEAD)
only when a step is over. A kill within a command would leave the HEAD behind the call: neither the
model nor a replay would know that the command ran. What came after the HEAD was last moved on
purpose (a rewind, a new beginning) is where the conversation stands.

Made for openhands-sdk 1.58 (`ConversationState.leaf_event_id`, saved with the state's lock); a HEAD
that is saved with each event would do without it.
"""

from openhands.sdk.conversation.state import ConversationState
from openhands.sdk.event.conversation_state import ConversationStateUpdateEvent

MOVED = "rookery_head_moved_at"
"""In the state that is the agent's own: how many events there were when the HEAD was moved."""


def note_move(state: ConversationState) -> None:
    """The HEAD was put where it is on purpose: what came before this leads nowhere else."""
    state.agent_state = {**state.agent_state, MOVED: len(state.events)}


def catch_up(state: ConversationState) -> None:
    """Put the HEAD at the newest event, where a kill left it behind. Reads files."""
    moved = state.agent_state.get(MOVED)
    if type(moved) is not int:  # new, or of a build that did not say: it stands where it says
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
