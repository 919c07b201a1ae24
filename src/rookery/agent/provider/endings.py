"""What a person reads where an answer did not end by itself."""

from typing import Any

from openhands.sdk.event import Condensation

from rookery.agent.provider import retries
from rookery.agent.provider.llm import Refused, RookeryLLM
from rookery.agent.provider.words import spoken
from rookery.agent.sdk_patches.answers import MAX_TOKENS, Ending

CUT = (
    "\n\nThe answer ends here: the model reached its output limit. "
    'Say "go on", or raise max_output_tokens in the model\'s settings.\n'
)
FILTERED = "The model's provider refused to answer this: its content filter objected."
REFUSED = f"{FILTERED} Say it otherwise, or go back to before it with /rewind."


def words_of(ending: Ending) -> str:
    """A refusal that has words of its own needs none of ours."""
    if ending.reason == MAX_TOKENS:
        return CUT
    return f"\n\n{REFUSED}\n" if ending.reason and ending.silent else ""


def ending_of(conversation: Any) -> Ending:
    llm = conversation.agent.llm
    return llm.ending if isinstance(llm, RookeryLLM) else Ending()


def forget_ending(conversation: Any) -> None:
    llm = conversation.agent.llm
    if isinstance(llm, RookeryLLM):
        llm.forget_ending()


def note_condensed(conversation: Any) -> None:
    """Of a step that did nothing but shorten the conversation. Raises TooSmall."""
    events, llm = conversation.state.events, conversation.agent.llm
    if isinstance(llm, RookeryLLM) and len(events) and isinstance(events[-1], Condensation):
        llm.note_condensed()


def is_cut_short(llm: Any) -> bool:
    return isinstance(llm, RookeryLLM) and bool(llm.ending.reason)


def refused_in(error: BaseException) -> str | None:
    """The words for a request that the provider's filter refused; None: it was another error."""
    for cause in retries.chain(error):
        if isinstance(cause, Refused):
            said = spoken(str(cause))
            return f"{REFUSED}\n{said}" if said else REFUSED
    return None
