"""Anthropic's messages API. Like the real one, it refuses a thinking block that does not come back
as it was signed."""

import hashlib
from collections.abc import Iterator
from typing import Any, override

from rookery.agent.scripted.conversation import Conversation, Said, flat, objects
from rookery.agent.scripted.dialects import ARGUMENTS_PIECE, Dialect, call_ids, cut, loaded, sse
from rookery.agent.scripted.script import Failure, Turn

type Json = dict[str, Any]

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
    """Only of ASCII: half a surrogate pair does not come back as it was sent."""
    known = "".join(sign for sign in thought if sign.isascii())
    return "sig-" + hashlib.sha256(known.encode()).hexdigest()[:32]


class Anthropic(Dialect):
    @override
    def read(self, body: Json) -> Conversation:
        said: list[Said] = [Said("system", flat(body.get("system")))] if body.get("system") else []
        for message in objects(body.get("messages")):
            content = message.get("content")
            blocks = [content] if isinstance(content, str) else objects(content)
            if message.get("role") == "assistant":
                said.append(Said("model", flat(blocks)))
                continue
            results = [block for block in blocks if _is(block, "tool_result")]
            said += [Said("result", flat(block.get("content"))) for block in objects(results)]
            rest = [block for block in blocks if not _is(block, "tool_result")]
            if rest:
                said.append(Said("user", flat(rest)))
        tools = [
            {**tool, "parameters": tool.get("input_schema")} for tool in objects(body.get("tools"))
        ]
        stream = body.get("stream") is True
        return Conversation(tuple(said), tuple(tools), str(body.get("model", "")), stream)

    @override
    def objection(self, body: Json) -> Failure | None:
        for number, message in enumerate(objects(body.get("messages"))):
            blocks = objects(message.get("content"))
            for place, block in enumerate(blocks):
                if _is(block, "thinking") and block.get("signature") != signature(
                    str(block.get("thinking"))
                ):
                    where = f"messages.{number}.content.{place}"
                    words = f"{where}: Invalid `signature` in `thinking` block"
                    return Failure(400, words, "invalid_request_error", None)
        return None

    @override
    def failed(self, failure: Failure) -> Json:
        kind = ERRORS.get(failure.status, "invalid_request_error")
        error = {"type": kind, "message": failure.message}
        return {"type": "error", "error": error, "request_id": "req_scripted"}

    @override
    def broken(self, failure: Failure) -> bytes:
        return sse(self.failed(failure), "error")

    @override
    def begin(self, id: str, turn: Turn, body: Json) -> bytes:
        message = {**self._message(id, turn, body), "content": [], "stop_reason": None}
        return self._event("message_start", message=message)

    @override
    def pieces(self, id: str, turn: Turn, body: Json) -> Iterator[bytes]:
        for index, block in enumerate(self._blocks(id, turn)):
            match block["type"]:
                case "thinking":
                    empty = {**block, "thinking": "", "signature": ""}
                    deltas = [("thinking", piece) for piece in cut(turn.thought, turn.chunks)]
                    deltas.append(("signature", block["signature"]))
                case "text":
                    empty = {**block, "text": ""}
                    deltas = [("text", piece) for piece in cut(block["text"], turn.chunks)]
                case _:
                    empty = {**block, "input": {}}
                    arguments = block["arguments"]
                    pieces = cut(arguments, turn.chunks, ARGUMENTS_PIECE)
                    deltas = [("partial_json", piece) for piece in pieces]
            empty.pop("arguments", None)
            begun = self._event("content_block_start", index=index, content_block=empty)
            for name, piece in deltas:
                kind = "input_json" if name == "partial_json" else name
                delta = {"type": f"{kind}_delta", name: piece}
                yield begun + self._event("content_block_delta", index=index, delta=delta)
                begun = b""
            yield begun + self._event("content_block_stop", index=index)

    @override
    def end(self, id: str, turn: Turn, body: Json) -> bytes:
        delta = {"stop_reason": _stop(turn), "stop_sequence": None}
        usage = {"output_tokens": turn.usage.output}
        last = self._event("message_delta", delta=delta, usage=usage)
        return last + self._event("message_stop")

    @override
    def whole(self, id: str, turn: Turn, body: Json) -> Json:
        blocks = [dict(block) for block in self._blocks(id, turn)]
        for block in blocks:
            block.pop("arguments", None)
        return {**self._message(id, turn, body), "content": blocks, "stop_reason": _stop(turn)}

    def _blocks(self, id: str, turn: Turn) -> list[Json]:
        blocks: list[Json] = []
        if turn.thought:
            signed = signature(turn.thought)
            blocks.append({"type": "thinking", "thinking": turn.thought, "signature": signed})
        if turn.text or turn.refusal:
            blocks.append({"type": "text", "text": turn.text or turn.refusal})
        for call, name in zip(turn.calls, call_ids(id, turn.calls), strict=True):
            about = {"type": "tool_use", "id": name, "name": call.name}
            blocks.append({**about, "input": loaded(call.arguments), "arguments": call.arguments})
        return blocks

    def _message(self, id: str, turn: Turn, body: Json) -> Json:
        usage = {
            "input_tokens": turn.usage.input - turn.usage.cached,
            "cache_read_input_tokens": turn.usage.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": turn.usage.output,
        }
        about = {"id": f"msg_{id}", "type": "message", "role": "assistant"}
        return {**about, "model": body.get("model"), "stop_sequence": None, "usage": usage}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, kind)


def _stop(turn: Turn) -> str:
    if turn.refusal:
        return "refusal"
    usual = "tool_use" if turn.calls else "end_turn"
    return STOPS.get(turn.finish, turn.finish) or usual


def _is(block: object, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind
