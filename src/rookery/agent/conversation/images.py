"""Images for a model that no list knows: they are sent, and a model that refuses them gets none
from then on. (For a model that is known not to take any, the SDK answers.)"""

import re
from collections.abc import Callable

from openhands.sdk import LLM, LocalConversation

from rookery.agent.provider import retries
from rookery.agent.sdk_patches.refused_images import BLIND, is_blind
from rookery.wire.failures import RpcError

ABILITY = "supports_vision"
LEFT_OUT = "{model} does not accept images, so yours was not sent.\n"
GIVEN_UP = (
    "{model} does not seem to accept images, so they are no longer sent. Send the prompt again, "
    "or choose another model with /model."
)
_REFUSALS = {"BadRequestError", "LLMBadRequestError", "UnprocessableEntityError", "NotFoundError"}
_ABOUT = re.compile(r"image|vision|multi-?modal|must be a string|valid string", re.IGNORECASE)


def trying(llm: LLM) -> LLM:
    """Return the model with images enabled unless it is known to take none."""
    if llm.model_info is not None or ABILITY in llm.capability_overrides:
        return llm
    if is_blind(llm):
        return llm
    abilities = {**llm.capability_overrides, ABILITY: True}
    return llm.model_copy(update={"capability_overrides": abilities})


def warning(llm: LLM, parts: list[tuple[str, str]]) -> str:
    """Return a notice about the prompt before it is sent; "" if there is none."""
    if is_blind(llm) and not llm.vision_is_active() and any(kind == "image" for kind, _ in parts):
        return LEFT_OUT.format(model=llm.model)
    return ""


def give_up(
    conversation: LocalConversation, renew_model: Callable[[], None], error: BaseException
) -> str:
    """If the model refused images that were only tried, send none from now on. Returns a notice
    about it; "" if the error was something else. Blocks."""
    llm = conversation.agent.llm
    if llm.model_info is not None or not llm.vision_is_active() or not _is_refusal(error):
        return ""
    BLIND.add((llm.model, llm.base_url))
    renew_model()
    if conversation.agent.llm.vision_is_active():  # the user's settings say that it does
        return ""
    return GIVEN_UP.format(model=llm.model)


def explained(failure: RpcError, explanation: str) -> RpcError:
    """Return the failure, explained; the provider's own message stays below it."""
    if not explanation:
        return failure
    detail = failure.message.partition("\n")[2]
    return RpcError(failure.code, f"{explanation}\n{detail}".strip(), failure.data)


def _is_refusal(error: BaseException) -> bool:
    return any(
        _REFUSALS & {base.__name__ for base in type(cause).__mro__} and _ABOUT.search(str(cause))
        for cause in retries.chain(error)
    )
