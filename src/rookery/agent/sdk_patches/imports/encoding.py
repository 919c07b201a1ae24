"""Loads litellm's tokenizer only with the first text that it has to count: 40 MB and half a second.

Made for litellm 1.105, which counts each streamed answer before any of it has come, to know its
cost, and each thought, even if the provider reports how many tokens it was. Unnecessary once it
counts neither an empty text nor what the provider has counted."""

from typing import Any

from litellm.litellm_core_utils import streaming_chunk_builder_utils as chunks
from litellm.rust_bridge import tokenizer

from rookery.agent.sdk_patches import Around, wrap

PER_TOKEN = 4
"""Characters of a thought, where its provider does not count them: a tokenizer of another vendor's
model knows no better."""


class Encoding:
    """The tokenizer's encoding of that name, loaded once it is needed."""

    def __init__(self, load: Around, name: str) -> None:
        self._load = load
        self.name = name

    def encode(self, text: str, **options: Any) -> list[int]:
        if not text:
            return []
        tokens: list[int] = self._load(self.name).encode(text, **options)
        return tokens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(self.name), name)


def _estimated(_count: Around, _processor: Any, response: Any) -> int | None:
    thoughts = [getattr(each.message, "reasoning_content", None) for each in response.choices]
    if not any(thoughts):
        return None
    return sum(-(-len(thought or "") // PER_TOKEN) for thought in thoughts)


def install() -> None:
    wrap(tokenizer, "_python_encoding", Encoding)
    wrap(chunks.ChunkProcessor, "count_reasoning_tokens", _estimated)
