"""A sub-agent's steps end as the main agent's do: an answer that was cut off or refused is not
asked for again, and a window that is too small is found before the model is.

Made for openhands-sdk 1.58, which makes sub-agents of its own plain `Agent`; a class of agent that
a caller may choose for sub-agents would do without this.
"""

from typing import Any

from openhands.sdk import Agent, LocalConversation
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.response_utils import get_agent_final_response
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.tools.task.manager import TaskManager

from rookery.agent.conversation.steps import RookeryAgent
from rookery.agent.provider import endings, retries, windows
from rookery.agent.provider.answers import MAX_TOKENS
from rookery.agent.provider.failures import failure_of
from rookery.agent.translate.children import ChildWatcher, SubAgentStopped

CUT = "The sub-agent's model has reached the most tokens that it may write at once. It wrote:"
REFUSED = "The sub-agent's model refused to answer:"

_plain: Any = Agent  # a decorator of the SDK's hides the types
_step = _plain.astep
_nudge = Agent._send_corrective_nudge
_run = TaskManager._run_until_finished


class Unfinished(Exception):
    """Why a sub-agent ended without a result, for its parent's model and whoever reads along."""


async def _step_below(self: Agent, conversation: Any, on_event: Any, on_token: Any = None) -> None:
    if not _is_below(conversation):
        await _step(self, conversation, on_event, on_token)
        return
    endings.forget_ending(conversation)
    windows.check(conversation)
    await _step(self, conversation, on_event, on_token)
    endings.note_condensed(conversation)
    state = conversation.state
    if endings.ending_of(conversation).stops and state.execution_status == Status.RUNNING:
        state.execution_status = Status.FINISHED


def _nudge_unless_cut(self: Agent, on_event: Any) -> None:
    if isinstance(self, RookeryAgent) or not endings.is_cut_short(self.llm):
        _nudge(self, on_event)


def _run_to_an_end(self: TaskManager, task_id: str, conversation: LocalConversation) -> None:
    """Raises Unfinished, whose words become the task's error."""
    try:
        _run(self, task_id, conversation)
    except ConversationRunError as error:
        if any(isinstance(cause, SubAgentStopped) for cause in retries.chain(error)):
            raise
        words = endings.refused_in(error) or failure_of(error).message
        raise Unfinished(words) from error
    ending = endings.ending_of(conversation)
    if ending.reason:
        said = get_agent_final_response(conversation.state.events)
        words = CUT if ending.reason == MAX_TOKENS else REFUSED
        raise Unfinished(f"{words}\n{said}" if said else f"{words[:-1]}.")


def _is_below(conversation: Any) -> bool:
    return isinstance(conversation._visualizer, ChildWatcher)


def install() -> None:
    """From now on. Once is enough; twice does no harm."""
    _plain.astep = _step_below
    Agent._send_corrective_nudge = _nudge_unless_cut  # type: ignore[method-assign, assignment]
    TaskManager._run_until_finished = _run_to_an_end  # type: ignore[method-assign]
