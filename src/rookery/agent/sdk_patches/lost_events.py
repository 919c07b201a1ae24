"""Restores events of a stream that the SDK and the client library drop.

Made for openhands-sdk 1.58 and litellm 1.105. Each part is unnecessary once upstream

- takes `response.incomplete` for an answer (the SDK takes it for an error, and retries five times),
- knows `response.reasoning_summary_text.delta` (litellm passes it on as an event without a class,
  which the SDK drops: thoughts came after the text),
- passes on `delta.refusal` of chat completions (litellm drops it: a refusal was empty),
- distinguishes a stream that breaks off from one that ends (litellm makes up the reason: half an
  answer looked whole), also if the provider says that it failed, and knows the PASSED_ON reasons,
- reads on after a byte that is not UTF-8 (openai: the whole answer was lost), and joins chunks
  that arrived at once (`provider.bursts`)."""

import codecs
import importlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openhands.sdk.llm._response_stream as of_stream
import openhands.sdk.llm.llm as of_llm
from litellm.litellm_core_utils import core_helpers
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
from litellm.types.llms.openai import ReasoningSummaryTextDeltaEvent, ResponseCompletedEvent
from openai._streaming import SSEDecoder

from rookery.agent.provider import bursts
from rookery.agent.sdk_patches import Around, wrap

THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
REFUSED = "content_filter"
FAILED = ("error", "network_error")
"""Reasons of gateways, in the middle of an answer."""
PAUSED, FULL = "finish_reason_unspecified", "malformed_function_call"
PASSED_ON = {"pause_turn": PAUSED, "model_context_window_exceeded": FULL}
"""Reasons of Anthropic's that litellm takes for a usual end, as words of its own that no other
reason becomes."""
SILENT = ("before any terminal event", "before anything of the answer")
"""Said of a stream that ended in order, with nothing that litellm could read."""
GEMINI = "litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini"


def install() -> None:
    wrap(of_llm, "get_completed_response", _completed)
    wrap(of_stream, "_response_event", _event)
    wrap(CustomStreamWrapper, "handle_openai_chat_completion_chunk", _chunk)
    wrap(CustomStreamWrapper, "finish_reason_handler", _finish)
    wrap(SSEDecoder, "aiter_bytes", _events)
    wrap(SSEDecoder, "iter_bytes", _events_now)
    known: Any = core_helpers._FINISH_REASON_MAP
    known.update(PASSED_ON | {reason: reason for reason in PASSED_ON.values()})


def install_rest() -> None:
    """Install the patches that need the libraries of `sdk_import.load_rest`, after it."""
    wrap(
        importlib.import_module(GEMINI).VertexGeminiConfig, "_check_finish_reason", _geminis_reason
    )


def _completed(known: Around, stream: object, observed: Any = None) -> Any:
    event = getattr(stream, "completed_response", None)
    if getattr(event, "type", None) == "response.incomplete":
        answer = getattr(event, "response", None)
        return ResponseCompletedEvent.model_construct(type="response.completed", response=answer)
    return known(stream, observed)


def _event(known: Around, event: Any) -> Any:
    if str(getattr(event, "type", "")) not in THOUGHTS:
        return known(event)
    if isinstance(event, ReasoningSummaryTextDeltaEvent):
        return event
    given = event.model_dump() if hasattr(event, "model_dump") else {}
    place = given.get("summary_index", given.get("content_index", 0))
    return ReasoningSummaryTextDeltaEvent.model_construct(
        type=THOUGHTS[0],
        item_id=str(given.get("item_id", "")),
        output_index=int(given.get("output_index") or 0),
        summary_index=int(place or 0),
        delta=str(given.get("delta") or ""),
    )


def _chunk(known: Around, wrapper: Any, chunk: Any) -> Any:
    for choice in getattr(chunk, "choices", None) or []:
        delta: Any = getattr(choice, "delta", None)
        if refusal := getattr(delta, "refusal", None):
            wrapper.has_refused = True
            delta.content = (delta.content or "") + refusal
            delta.refusal = None
        if getattr(wrapper, "has_refused", False) and choice.finish_reason:
            choice.finish_reason = REFUSED
    return known(wrapper, chunk)


def _finish(known: Around, wrapper: Any) -> Any:
    reason = wrapper.received_finish_reason or wrapper.intermittent_finish_reason
    if reason is None or reason in FAILED:
        what = "the end" if wrapper.chunks else "anything"
        raise ConnectionError(f"connection closed before {what} of the answer")
    return known(wrapper)


def _geminis_reason(known: Around, message: Any, finish_reason: str | None) -> Any:
    """Ignore a missing reason: litellm gives every chunk of the answer a reason to end."""
    return None if finish_reason is None else known(message, finish_reason)


def _events(_known: Around, decoder: SSEDecoder, chunks: AsyncIterator[bytes]) -> Any:
    return bursts.events(decoder, chunks)


def _events_now(known: Around, decoder: SSEDecoder, chunks: Iterator[bytes]) -> Any:
    """Decode the events with U+FFFD for what is not UTF-8."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    return known(decoder, (decode(chunk).encode() for chunk in chunks))
