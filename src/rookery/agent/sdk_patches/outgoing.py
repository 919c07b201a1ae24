"""Avoids redundant work on requests to a model. All of it is done on the event loop, for the whole
history: in a long conversation it took nine tenths of a step beside the model's own time.

- The SDK builds each message of a prompt anew from its event, although events never change, writes
  them all out for a line of a debug log that nobody reads, and deep-copies what it sends.
- It also builds the schema of each tool anew, although tools never change, and copies the usage of
  all answers so far.
- The model's client checks every field of every message against its type, to convert models, dates
  and files. The SDK sends plain JSON.
- litellm checks and copies every message three times over, and the client serialises all of them to
  JSON anew. What was done for a message that is `Written` is not done again.
- litellm joins the chunks of an answer twice, for callbacks that nobody set; the SDK does it a
  third time.

Made for openhands-sdk 1.58, openai 2.54, which litellm 1.105 calls, and aiohttp 3.14.
Unnecessary once the SDK keeps the messages of a conversation and the schemas of its tools and
copies no usage, that client leaves plain JSON alone, litellm does no work for absent callbacks and
nothing twice, and aiohttp looks at closed connections less often."""

import importlib
import logging
import weakref
from collections.abc import Sequence, Set
from operator import is_
from typing import Any, SupportsIndex, override

import litellm
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
from openhands.sdk import Message
from openhands.sdk.agent import agent
from openhands.sdk.event import Condensation, LLMConvertibleEvent, MessageEvent, ObservationEvent
from openhands.sdk.llm.utils.metrics import Metrics
from openhands.sdk.tool import ToolDefinition

from rookery.agent.provider.history import Repair
from rookery.agent.provider.written import Chat, Written, is_plain, is_text
from rookery.agent.sdk_patches import Around, wrap

BULKY = ("messages", "tools")
GPT = "litellm.llms.openai.chat.gpt_transformation"
PLACE = ("openai.resources.chat.completions.completions", "async_maybe_transform")
AGAIN = 60.0
"""Seconds between two looks of aiohttp at connections that it has closed, which it needs for a bug
of Python 3.13.0. Its own 2 wake an idle agent."""


# --- the SDK's messages --------------------------------------------------------------------------


class Prompts:
    """The prompts of one conversation. Each shares the messages of the one before it, so they must
    not be changed: `RookeryLLM` copies what it marks."""

    def __init__(self) -> None:
        self._events: list[LLMConvertibleEvent] = []
        self._messages: list[Message] = []
        self._repair = Repair()
        self.chat = Chat()

    def of(self, events: Sequence[LLMConvertibleEvent]) -> "Prompt":
        """Return the prompt that the SDK would build from these events. It joins neighbours, but
        nothing to an answer or to the result of a call: messages up to the last of these are kept.
        """
        if not begins_with(events, self._events):
            self._events, self._messages, self._repair = [], [], Repair()
        known = len(self._events)
        end = known
        for at in range(len(events) - 1, known - 1, -1):
            if stands_alone(events[at]):
                end = at + 1
                break
        added = list(events[known:end])
        made = LLMConvertibleEvent.events_to_messages
        self._messages += self._repair.feed(made(added), last=False)
        self._events += added
        repair = self._repair.copy()
        rest = repair.feed(made(list(events[end:])), last=True)
        return Prompt([*self._messages, *rest], repair.used)


def stands_alone(event: LLMConvertibleEvent) -> bool:
    """Tell whether nothing that comes later is joined to this event's message."""
    is_words = isinstance(event, MessageEvent) and event.llm_message.role == "assistant"
    return is_words or isinstance(event, ObservationEvent)


def begins_with(
    events: Sequence[LLMConvertibleEvent], known: Sequence[LLMConvertibleEvent]
) -> bool:
    return len(events) >= len(known) and all(map(is_, events, known))


class Prompt(list[Message]):
    """A valid history. Hides all messages but the first from the SDK's debug log, which it would
    write even if nobody reads it."""

    def __init__(self, messages: list[Message], ids: Set[str]) -> None:
        super().__init__(messages)
        self.ids = ids
        """Of its calls."""

    @override
    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        if key == slice(1, None) and not agent.logger.isEnabledFor(logging.DEBUG):
            return []
        return super().__getitem__(key)


def how_sent(llm: Any) -> tuple[object, ...]:
    """Return all that a chat message depends on besides its content."""
    flags = llm.native_tool_calling, llm.is_caching_prompt_active(), llm.vision_is_active()
    return llm.model, llm.force_string_serializer, *flags


class Uncopied(list[dict[str, Any]]):
    """Messages that the SDK copies for a model without tools, and then does not change."""

    def __deepcopy__(self, memo: dict[int, Any]) -> list[dict[str, Any]]:
        return list(self)


async def prepare(
    plain: Around, view: Any, condenser: Any = None, *more: Any, llm: Any = None, **named: Any
) -> Any:
    prompts: Prompts | None = getattr(llm, "prompts", None)
    if prompts is None or condenser is None or more or named:
        return await plain(view, condenser, *more, llm=llm, **named)
    outcome = await condenser.acondense(view, agent_llm=llm)
    return outcome if isinstance(outcome, Condensation) else prompts.of(outcome.events)


# --- the schemas of tools ------------------------------------------------------------------------


class Schemas:
    """The tools' schemas in one format: each is built once for each tool, and returned as a copy:
    some providers' adapters change it."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, bool], tuple[weakref.ref[Any], Any]] = {}

    def of(
        self,
        make: Around,
        tool: Any,
        add_security_risk_prediction: bool = False,
        action_type: Any = None,
    ) -> Any:
        if action_type is not None:
            return make(tool, add_security_risk_prediction, action_type)
        key = id(tool), add_security_risk_prediction
        known = self._made.get(key)
        if known is None or known[0]() is not tool:
            gone = weakref.ref(tool, lambda _: self._made.pop(key, None))
            known = self._made[key] = gone, make(tool, add_security_risk_prediction)
        return copied(known[1])


def copied(value: Any) -> Any:
    """Return a copy of JSON."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


_chat, _responses = Schemas().of, Schemas().of


def keep_schemas(kind: Any) -> None:
    """Cache the schemas of a class of tools."""
    wrap(kind, "to_openai_tool", _chat)
    wrap(kind, "to_responses_tool", _responses)


# --- the model's client --------------------------------------------------------------------------


async def transform(walk: Around, data: Any, expected_type: Any) -> Any:
    plain = {name: data[name] for name in BULKY if _is_list(data, name)}
    rest = {name: value for name, value in data.items() if name not in plain}
    return {**await walk(rest, expected_type), **plain}


def _is_list(data: dict[str, Any], name: str) -> bool:
    field = data.get(name)
    return isinstance(field, list) and is_plain(field)


def check(known: Around, messages: list[Any]) -> list[Any]:
    """Run litellm's check on each message by itself."""
    validated = []
    for each in messages:
        if type(each) is not Written:
            validated += known([each])
            continue
        if each.checked is None:
            [checked] = known([dict(each)])
            each.checked = each if checked == each else Written(checked)
        validated.append(each.checked)
    return validated


def unsign(known: Around, messages: list[Any], separator: str) -> list[Any]:
    """Run litellm's function on each message by itself: it removes what Gemini adds to ids."""
    unsigned = []
    for each in messages:
        if type(each) is not Written:
            unsigned += known([each], separator)
            continue
        if each.unsigned is None or each.unsigned[0] != separator:
            [clean] = known([dict(each)], separator)
            each.unsigned = separator, each if clean == each else Written(clean)
        unsigned.append(each.unsigned[1])
    return unsigned


def convert(known: Around, config: Any, messages: Any, model: str, is_async: bool = False) -> Any:
    """Convert pictures and files to the form that OpenAI takes; skipped for text alone."""
    if not is_async and all(map(is_text, messages)):
        return list(messages)
    loose = [each if is_text(each) else copied(dict(each)) for each in messages]
    return known(config, loose, model, is_async)


def unflag(known: Around, config: Any, model: str, messages: Any, tools: Any = None) -> Any:
    """Return the messages and tools without cache marks."""
    flagged = [not is_text(each) or each.is_flagged for each in messages]
    loose = [copied(dict(each)) for each, is_so in zip(messages, flagged, strict=True) if is_so]
    clean, tools = known(config, model, loose, tools)
    rest = iter(clean)
    merged = [next(rest) if is_so else each for each, is_so in zip(messages, flagged, strict=True)]
    return merged, tools


def dump(known: Around, data: Any) -> bytes:
    """Serialise a request, reusing what is serialised already."""
    messages = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(messages, list) or not any(type(each) is Written for each in messages):
        return known(data)  # type: ignore[no-any-return]
    parts: list[bytes] = []
    for each in messages:
        if type(each) is not Written:
            parts.append(known(each))
            continue
        if each.json is None:
            each.json = known(each)
        parts.append(each.json)
    written = b"[%b]" % b",".join(parts)
    items = (
        known(key) + b":" + (written if value is messages else known(value))
        for key, value in data.items()
    )
    return b"{%b}" % b",".join(items)


def copied_metrics(_known: Around, metrics: Metrics) -> Metrics:
    """Copy the metrics shallowly. The SDK deep-copies the usage of every answer so far with each
    answer, although its entries are never changed."""
    lists = {
        name: list(value) for name, value in metrics.__dict__.items() if isinstance(value, list)
    }
    total = metrics.accumulated_token_usage
    own = total.model_copy() if total is not None else None
    return metrics.model_copy(update={**lists, "accumulated_token_usage": own})


async def finish(known: Around, stream: Any, cache_hit: bool) -> Any:
    """End a stream. The first time, report its usage; then only callbacks are left."""
    if not stream.sent_last_chunk or is_heard():
        return await known(stream, cache_hit)
    if stream.send_stream_usage and not stream.sent_stream_usage:
        whole: Any = litellm.stream_chunk_builder(
            stream.chunks,
            stream.messages,
            logging_obj=stream.logging_obj,
            count_prompt_tokens=stream.count_prompt_tokens,
        )
        chunk = stream.model_response_creator()
        chunk.usage = whole.usage
        stream.sent_stream_usage = True
        return chunk
    stream._restore_consumer_correlation_context()
    raise StopAsyncIteration


def is_heard() -> bool:
    """Tell whether litellm has any callbacks for answers."""
    callbacks = (litellm.callbacks, litellm.success_callback, litellm._async_success_callback)
    return any(callbacks)


def install() -> None:
    """Install the patches, after `sdk_import.load_rest`, whose libraries they need."""
    keep_schemas(ToolDefinition)
    wrap(CustomStreamWrapper, "_finalize_completed_stream", finish)
    wrap(Metrics, "deep_copy", copied_metrics)
    wrap(agent, "aprepare_llm_messages", prepare)
    wrap(importlib.import_module(PLACE[0]), PLACE[1], transform)
    wrap(importlib.import_module("litellm.main"), "validate_and_fix_openai_messages", check)
    wrap(
        importlib.import_module("litellm.utils"), "_remove_thought_signatures_from_messages", unsign
    )
    usual = importlib.import_module(GPT).OpenAIGPTConfig
    wrap(usual, "_transform_messages", convert)
    wrap(usual, "remove_cache_control_flag_from_messages_and_tools", unflag)
    wrap(importlib.import_module("openai._base_client"), "openapi_dumps", dump)
    connector: Any = importlib.import_module("aiohttp.connector").TCPConnector
    connector._cleanup_closed_period = AGAIN
