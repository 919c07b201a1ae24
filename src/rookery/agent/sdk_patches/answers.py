"""The model's answer on its way to the SDK, by chunk or whole: corrected before anything is shown,
kept or sent back.

Made for litellm 1.105, called by openhands-sdk 1.58. Each part is unnecessary once upstream

- keeps a signed thinking block once (it comes again in the chunk with the signature, the library
  joins both, and the provider refuses what it did not sign),
- gives the chunks of one answer the same id where the provider gave none (Gemini behind a proxy),
- puts a refusal's words into the message (streamed ones: `lost_events.py`),
- joins the halves of a character, and takes `<think>` tags out of an answer.
"""

import json
from typing import Any, NamedTuple

from openhands.sdk import TextContent

from rookery.agent.provider import surrogates, think_tags
from rookery.agent.translate.streams import deltas, text_in

MAX_TOKENS = "max_tokens"
REFUSAL = "refusal"
REASONS = {"length": MAX_TOKENS, "content_filter": REFUSAL}


class Ending(NamedTuple):
    """How an answer ended, if it was cut short."""

    reason: str = ""
    """ACP's stop reason, or nothing."""
    silent: bool = False
    """It has no words."""
    stops: bool = False
    """It ends the turn: there is nothing to carry out."""


class Stream:
    """The chunks of one attempt."""

    def __init__(self) -> None:
        self._id = ""
        self._thought = surrogates.Pieces()
        self._text = surrogates.Pieces()
        self._tags = think_tags.ThinkTags()
        self._unsigned = False
        """Thinking has come since the last signature."""
        self._arguments: dict[int, surrogates.Pieces] = {}

    def correct(self, chunk: Any) -> None:
        """In place: the library builds the answer from the same chunks."""
        self._id = self._id or text_in(chunk, "id")
        if self._id:
            chunk.id = self._id
        for choice, delta in deltas(chunk):
            self._correct_thinking(delta)
            self._correct_calls(delta)
            self._correct_words(delta, last=bool(getattr(choice, "finish_reason", None)))

    def _correct_calls(self, delta: Any) -> None:
        for call in getattr(delta, "tool_calls", None) or []:
            function: Any = getattr(call, "function", None)
            if words := text_in(function, "arguments"):
                pieces = self._arguments.setdefault(call.index or 0, surrogates.Pieces())
                function.arguments = pieces.feed(words)

    def _correct_thinking(self, delta: Any) -> None:
        for block in getattr(delta, "thinking_blocks", None) or []:
            if not isinstance(block, dict):
                continue
            if block.get("signature"):
                if self._unsigned:
                    block["thinking"] = ""
                self._unsigned = False
            elif block.get("thinking"):
                self._unsigned = True
            if block.get("thinking"):
                block["thinking"] = surrogates.whole(block["thinking"])

    def _correct_words(self, delta: Any, *, last: bool) -> None:
        said = text_in(delta, "content")
        thought, words = self._tags.feed(self._text.feed(said)) if said else ("", "")
        if last:
            more, rest = self._tags.rest()
            thought, words = thought + more, words + rest
        if words != text_in(delta, "content"):
            delta.content = words
        reasoning = text_in(delta, "reasoning_content")
        meant = self._thought.feed(reasoning) + thought
        if meant != reasoning:
            delta.reasoning_content = meant


def correct_message(message: Any) -> bool:
    """The same for a whole message. Returns whether it is a refusal."""
    said, refusal = text_in(message, "content"), _refusal(message)
    thought, words = think_tags.split(surrogates.whole(said))
    words = "\n\n".join(filter(None, (words, surrogates.whole(refusal))))
    if words != said:
        message.content = words
    reasoning = text_in(message, "reasoning_content")
    meant = "\n\n".join(filter(None, (surrogates.whole(reasoning), thought)))
    if meant != reasoning:
        message.reasoning_content = meant
    for block in getattr(message, "thinking_blocks", None) or []:
        if isinstance(block, dict) and block.get("thinking"):
            block["thinking"] = surrogates.whole(block["thinking"])
    for call in getattr(message, "tool_calls", None) or []:
        function: Any = getattr(call, "function", None)
        if arguments := text_in(function, "arguments"):
            function.arguments = surrogates.whole_json(arguments)
    return bool(refusal)


def _refusal(message: Any) -> str:
    fields = getattr(message, "provider_specific_fields", None)
    other = fields.get("refusal") if isinstance(fields, dict) else ""
    return text_in(message, "refusal") or (other if isinstance(other, str) else "")


def ending_of(finish: str, message: Any, *, refused: bool) -> Ending:
    """Of a chat completion; `message` is the SDK's."""
    reason = REFUSAL if refused else REASONS.get(finish, "")
    if not reason:
        return Ending()
    calls = getattr(message, "tool_calls", None) or []
    words = any(text_in(part, "text").strip() for part in message.content)
    broken = any(not _is_json(call.arguments) for call in calls)
    return Ending(reason, silent=not words and not calls, stops=not calls or broken)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


CUT_SHORT = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a Responses API answer is incomplete, in chat completions' words."""


def correct_output(output: Any) -> list[str]:
    """The items of a Responses API answer, in place. Returns the words of refusals."""
    refused: list[str] = []
    for item in output or []:
        if text_in(item, "type") == "function_call" and (arguments := text_in(item, "arguments")):
            _put(item, "arguments", surrogates.whole_json(arguments))
        for part in [*_list(item, "content"), *_list(item, "summary")]:
            if words := text_in(part, "refusal"):
                refused.append(surrogates.whole(words))
            elif (words := text_in(part, "text")) and words != surrogates.whole(words):
                _put(part, "text", surrogates.whole(words))
    return refused


def add_refusals(message: Any, refused: list[str]) -> None:
    """The SDK's message has no place for them but its text."""
    if refused:
        message.content = [*message.content, TextContent(text="\n\n".join(refused))]


def _list(thing: Any, name: str) -> list[Any]:
    value = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
    return value if isinstance(value, list) else []


def _put(thing: Any, name: str, value: str) -> None:
    if isinstance(thing, dict):
        thing[name] = value
    else:
        setattr(thing, name, value)
