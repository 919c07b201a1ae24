"""Images for a model that no list knows: they are sent, since nobody but the model can say whether
it sees. One that refuses them gets none from then on, so that the conversation can go on. (In the
place of one that is known to be blind, the SDK answers.)
"""

import re
from typing import Any, Protocol

from openhands.sdk import LLM

from rookery.agent.conversation.steps import Conversation
from rookery.wire.failures import RpcError

ABILITY = "supports_vision"
LEFT_OUT = "{model} takes no images: yours is left out.\n"
GIVEN_UP = (
    "{model} seems to take no images: they are left out from now on. Send the prompt again, or "
    "choose another model with /model."
)
_REFUSALS = {"BadRequestError", "LLMBadRequestError", "UnprocessableEntityError", "NotFoundError"}
_ABOUT = re.compile(r"image|vision|multi-?modal|must be a string|valid string", re.IGNORECASE)

_blind: set[tuple[str, str | None]] = set()
"""Models that refused one, by their name and address."""


class Session(Protocol):
    """As far as its model is concerned."""

    @property
    def running(self) -> Conversation: ...

    def renew_model(self) -> None: ...


def trying(llm: LLM) -> LLM:
    """The same, with images where it is not known that it takes none."""
    if llm._model_info is not None or ABILITY in llm.capability_overrides:
        return llm
    if is_blind(llm):
        return llm
    abilities = {**llm.capability_overrides, ABILITY: True}
    return llm.model_copy(update={"capability_overrides": abilities})


def is_blind(llm: LLM) -> bool:
    return (llm.model, llm.base_url) in _blind


def warning(session: Session, parts: list[tuple[str, str]]) -> str:
    """What a person is to know of a prompt before it is sent; "": nothing."""
    llm = session.running.agent.llm
    if is_blind(llm) and not llm.vision_is_active() and any(kind == "image" for kind, _ in parts):
        return LEFT_OUT.format(model=llm.model)
    return ""


def give_up(session: Session, error: BaseException) -> str:
    """Where this is a refusal of images that were only tried: none are sent any more. What to say
    about it; "": it is not. Blocks."""
    llm = session.running.agent.llm
    if llm._model_info is not None or not llm.vision_is_active() or not _is_refusal(error):
        return ""
    _blind.add((llm.model, llm.base_url))
    session.renew_model()
    if session.running.agent.llm.vision_is_active():  # the person's settings say that it does
        return ""
    return GIVEN_UP.format(model=llm.model)


def explained(failure: RpcError, words: str) -> RpcError:
    """With those words in the place of the usual ones; the provider's own stay."""
    if not words:
        return failure
    said = failure.message.partition("\n")[2]
    return RpcError(failure.code, f"{words}\n{said}".strip(), failure.data)


def _is_refusal(error: BaseException) -> bool:
    seen: Any = error
    while isinstance(seen, BaseException):
        names = {base.__name__ for base in type(seen).__mro__}
        if names & _REFUSALS and _ABOUT.search(str(seen)):
            return True
        seen = getattr(seen, "original_exception", None) or seen.__cause__
    return False
