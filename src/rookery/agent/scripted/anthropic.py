"""Anthropic's messages API for the scripted model. Like the real one, it refuses a thinking block
that does not come back as it was signed."""

import hashlib
import re
from collections.abc import Iterator
from typing import override

from rookery.agent.scripted import strict
from rookery.agent.scripted.conversation import ChatMessage, Conversation, Json, flat, objects
from rookery.agent.scripted.dialects import ARGUMENTS_PIECE, Dialect, cut, event, loaded, sse
from rookery.agent.scripted.script import Failure

ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
STOPS = {"length": "max_tokens", "content_filter": "refusal", "refusal": "refusal"}


def signature(thought: str) -> str:
    """Sign a thought, only its ASCII: half a surrogate pair does not come back as it was sent."""
    known = "".join(sign for sign in thought if sign.isascii())
    return "sig-" + hashlib.sha256(known.encode()).hexdigest()[:32]


REDACTED = "(redacted)"
"""A thought that Anthropic's API hides."""


def sealed(text: str) -> str:
    return "sealed-" + hashlib.sha256(text.encode()).hexdigest()[:32]


class Anthropic(Dialect):
    @override
    def read(self) -> Conversation:
        system = self.body.get("system")
        history = [ChatMessage("system", flat(system))] if system else []
        for message in objects(self.body.get("messages")):
            content = message.get("content")
            if message.get("role") == "assistant":
                history.append(ChatMessage("model", flat(content)))
                continue
            results = [block for block in objects(content) if block.get("type") == "tool_result"]
            history += [ChatMessage("result", flat(block.get("content"))) for block in results]
            blocks = [content] if isinstance(content, str) else objects(content)
            if rest := [block for block in blocks if block not in results]:
                history.append(ChatMessage("user", flat(rest)))
        tools = objects(self.body.get("tools"))
        return Conversation(history, [{**it, "parameters": it.get("input_schema")} for it in tools])

    @override
    def check(self) -> None:
        messages = objects(self.body.get("messages"))
        for number, message in enumerate(messages):
            for place, block in enumerate(objects(message.get("content"))):
                signed = signature(str(block.get("thinking")))
                if block.get("type") == "thinking" and block.get("signature") != signed:
                    where = f"messages.{number}.content.{place}"
                    raise strict.Broken(f"{where}: Invalid `signature` in `thinking` block")
                if block.get("type") == "redacted_thinking" and not _is_sealed(block):
                    raise strict.Broken(f"{number}: Invalid `data` in `redacted_thinking` block")
        strict.anthropic(messages)

    @override
    def failed(self, failure: Failure) -> Json:
        kind = ERRORS.get(failure.status, "invalid_request_error")
        error = {"type": kind, "message": failure.message}
        return {"type": "error", "error": error, "request_id": "req_scripted"}

    @override
    def broken(self, failure: Failure) -> bytes:
        return sse(self.failed(failure), "error")

    @override
    def begin(self) -> bytes:
        message = {**self.whole(), "content": [], "stop_reason": None}
        return event("message_start", message=message)

    @override
    def pieces(self) -> Iterator[bytes]:
        for index, (block, text) in enumerate(self._blocks()):
            kind, field, name, length = block["type"], block["type"], block["type"], 0
            if kind == "tool_use":
                kind, field, name, length = "input_json", "input", "partial_json", ARGUMENTS_PIECE
            signed = {"signature": ""} if "signature" in block else {}
            empty = {
                **block,
                **({} if "data" in block else {field: {} if length else ""}),
                **signed,
            }
            deltas = [(kind, name, piece) for piece in cut(text, self.turn.chunks, length)]
            deltas += [(key, key, block[key]) for key in signed]
            begun = event("content_block_start", index=index, content_block=empty)
            for kind, name, piece in deltas:
                delta = {"type": f"{kind}_delta", name: piece}
                yield begun + event("content_block_delta", index=index, delta=delta)
                begun = b""
            yield begun + event("content_block_stop", index=index)

    @override
    def end(self) -> bytes:
        delta = {"stop_reason": self._stop(), "stop_sequence": None}
        usage = self.counted("usage", {"output_tokens": self.turn.usage.output})
        return event("message_delta", delta=delta, **usage) + event("message_stop")

    @override
    def whole(self) -> Json:
        usage = {
            "input_tokens": self.turn.usage.input - self.turn.usage.cached,
            "cache_read_input_tokens": self.turn.usage.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": self.turn.usage.output,
        }
        about: Json = {"id": f"msg_{self.id}", "type": "message", "role": "assistant"}
        about |= {"model": self.body.get("model"), "stop_sequence": None}
        blocks = [block for block, _ in self._blocks()]
        counted = self.counted("usage", usage)
        return {**about, **counted, "content": blocks, "stop_reason": self._stop()}

    def _blocks(self) -> list[tuple[Json, str]]:
        """Return the blocks, each with the text that is streamed."""
        turn = self.turn
        blocks = _speech(turn.text or turn.refusal, turn.thought)
        for name, call in self.calls():
            blocks += _speech(call.text, call.thought)
            block = {"type": "tool_use", "id": name, "name": call.name}
            blocks.append(({**block, "input": loaded(call.arguments)}, call.arguments))
        return blocks

    def _stop(self) -> str:
        if self.turn.refusal:
            return "refusal"
        usual = "tool_use" if self.turn.calls else "end_turn"
        return STOPS.get(self.turn.finish, self.turn.finish) or usual


def _is_sealed(block: Json) -> bool:
    return re.fullmatch(r"sealed-[0-9a-f]{32}", str(block.get("data"))) is not None


def _speech(text: str, thought: str) -> list[tuple[Json, str]]:
    blocks = list[tuple[Json, str]]()
    if thought == REDACTED:
        blocks.append(({"type": "redacted_thinking", "data": sealed(text)}, ""))
    elif thought:
        block = {"type": "thinking", "thinking": thought}
        blocks.append(({**block, "signature": signature(thought)}, thought))
    if text:
        blocks.append(({"type": "text", "text": text}, text))
    return blocks
