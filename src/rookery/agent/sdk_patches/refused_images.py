"""Asks a model again that refused an image: the image stays in the conversation, and the SDK would
answer every later prompt in the model's place.

Made for openhands-sdk 1.58 (`_should_handle_non_multimodal_image_input`). Unnecessary once the SDK
asks models that no list knows, and can leave images out."""

from openhands.sdk import LLM, Message
from openhands.sdk.agent import agent

from rookery.agent.sdk_patches import Around, wrap

BLIND: set[tuple[str, str | None]] = set()
"""Models that refused an image, by name and address."""


def is_blind(llm: LLM) -> bool:
    return (llm.model, llm.base_url) in BLIND


def _is_answered_for(known: Around, llm: LLM, messages: list[Message]) -> bool:
    return not is_blind(llm) and known(llm, messages)


def install() -> None:
    wrap(agent, "_should_handle_non_multimodal_image_input", _is_answered_for)
