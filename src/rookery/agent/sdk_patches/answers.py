"""Corrects the model's answer on its way to the SDK, in chunks or whole, before anything is shown,
kept or sent back.

Made for litellm 1.105, called by openhands-sdk 1.58. Each part is unnecessary once upstream

- keeps a signed thinking block once (it comes again in the chunk with the signature, the library
  joins both, and the provider refuses what it did not sign),
- gives the chunks of one answer the same id if the provider gave none (Gemini behind a proxy),
- puts a refusal's text into the message (streamed ones: `lost_events.py`),
- joins the halves of a character, and takes `<think>` tags out of an answer."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from openhands.sdk import TextContent

from rookery.agent.provider import surrogates, think_tags
from rookery.agent.provider.history import Answer
from rookery.agent.translate.streams import deltas, text_in

MAX_TOKENS = "max_tokens"
REFUSAL = "refusal"
REASONS = {"length": MAX_TOKENS, "content_filter": REFUSAL}


CUT = (
    "\n\nThe answer ends here: the model reached its output limit. "
    'Say "go on", or raise max_output_tokens in the model\'s settings.\n'
)
FILTERED = "The model's provider refused to answer this: its content filter objected."
REFUSED = f"{FILTERED} Rephrase it, or undo it with /rewind."


class Ending(NamedTuple):
    """How an answer ended, if it was cut short."""

    reason: str = ""
    """ACP's stop reason, or nothing."""
    silent: bool = False
    """It has no words."""
    stops: bool = False
    """It ends the turn: there is nothing to carry out."""


class Stream:
    """Corrects the chunks of one attempt."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._id = ""
        self._thought = surrogates.Pieces()
        self._text = surrogates.Pieces()
        self._tags = think_tags.ThinkTags()
        self._unsigned = False
        """Thinking has come since the last signature."""
        self._arguments: dict[int, surrogates.Pieces] = {}
        self._ids: dict[int, str] = {}

    def correct(self, chunk: Any) -> None:
        """Correct a chunk in place: the library builds the answer from the same chunks."""
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
            self._name(call, function)
            if arguments := text_in(function, "arguments"):
                pieces = self._arguments.setdefault(call.index or 0, surrogates.Pieces())
                function.arguments = pieces.feed(arguments)

    def _name(self, call: Any, function: Any) -> None:
        """Correct a call's id and name, in its first chunk; some providers repeat the id."""
        place, given = call.index or 0, text_in(call, "id")
        if given and place not in self._ids:
            self._ids[place] = self._answer.id(given)
            if function is not None:
                function.name = self._answer.name(text_in(function, "name"))
        if given:
            call.id = self._ids[place]

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
        content = text_in(delta, "content")
        thought, answer = self._tags.feed(self._text.feed(content)) if content else ("", "")
        if last:
            more, rest = self._tags.rest()
            thought, answer = thought + more, answer + rest
        if answer != text_in(delta, "content"):
            delta.content = answer
        reasoning = text_in(delta, "reasoning_content")
        meant = self._thought.feed(reasoning) + thought
        if meant != reasoning:
            delta.reasoning_content = meant


def corrected(on_token: Callable[[Any], Any] | None, answer: Answer) -> Callable[[Any], Any] | None:
    """Return the callback for chunks, extended to correct those of one attempt."""
    if on_token is None:
        return None
    stream = Stream(answer.again())

    def correct(chunk: Any) -> Any:
        stream.correct(chunk)
        return on_token(chunk)

    return correct


def correct_message(message: Any, answer: Answer) -> bool:
    """Correct a whole message in place. Returns whether it is a refusal."""
    content, refusal = text_in(message, "content"), _refusal(message)
    thought, text = think_tags.split(surrogates.whole(content))
    text = "\n\n".join(filter(None, (text, surrogates.whole(refusal))))
    if text != content:
        message.content = text
    reasoning = text_in(message, "reasoning_content")
    meant = "\n\n".join(filter(None, (surrogates.whole(reasoning), thought)))
    if meant != reasoning:
        message.reasoning_content = meant
    for block in getattr(message, "thinking_blocks", None) or []:
        if isinstance(block, dict) and block.get("thinking"):
            block["thinking"] = surrogates.whole(block["thinking"])
    for call in getattr(message, "tool_calls", None) or []:
        function: Any = getattr(call, "function", None)
        call.id = answer.id(text_in(call, "id"))
        function.name = answer.name(text_in(function, "name"))
        function.arguments = surrogates.whole_json(text_in(function, "arguments"))
    return bool(refusal)


def _refusal(message: Any) -> str:
    fields = getattr(message, "provider_specific_fields", None)
    other = fields.get("refusal") if isinstance(fields, dict) else ""
    return text_in(message, "refusal") or (other if isinstance(other, str) else "")


def is_empty(message: Any) -> bool:
    """Tell whether an answer has neither text nor calls: thoughts alone do not count."""
    return not message.tool_calls and not any(
        text_in(part, "text").strip() or not isinstance(part, TextContent)
        for part in message.content
    )


def ending_of(finish: str, message: Any, *, refused: bool) -> Ending:
    """Return how a chat completion ended; `message` is the SDK's."""
    reason = REFUSAL if refused else REASONS.get(finish, "")
    if not reason:
        return Ending()
    calls = getattr(message, "tool_calls", None) or []
    has_text = any(text_in(part, "text").strip() for part in message.content)
    broken = any(not _is_json(call.arguments) for call in calls)
    return Ending(reason, silent=not has_text and not calls, stops=not calls or broken)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


CUT_SHORT = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a Responses API answer is incomplete, in chat completions' words."""


def correct_output(output: Any, answer: Answer) -> list[str]:
    """Correct the items of a Responses API answer in place. Returns the texts of refusals."""
    refused: list[str] = []
    for item in output or []:
        if text_in(item, "type") == "function_call":
            _put(item, "call_id", answer.id(text_in(item, "call_id")))
            _put(item, "name", answer.name(text_in(item, "name")))
            _put(item, "arguments", surrogates.whole_json(text_in(item, "arguments")))
        for part in [*_list(item, "content"), *_list(item, "summary")]:
            if text := text_in(part, "refusal"):
                refused.append(surrogates.whole(text))
            elif (text := text_in(part, "text")) and text != surrogates.whole(text):
                _put(part, "text", surrogates.whole(text))
    return refused


def add_refusals(message: Any, refused: list[str]) -> None:
    """Append refusals to the SDK's message, whose text is the only place for them."""
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


def words_of(ending: Ending) -> str:
    """Return a notice for the user. A refusal with a text of its own needs none."""
    if ending.reason == MAX_TOKENS:
        return CUT
    return f"\n\n{REFUSED}\n" if ending.reason and ending.silent else ""
