"""The three APIs in which agents speak to a model: how a request is read, how an answer is written.

Each knows the name and the arguments of its agent's shell tool. That is what makes a script the
same for all of them.
"""

import json
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from tests.vendors.script import Part

type Json = dict[str, Any]

USED, WRITTEN = 100, 20  # tokens, of every answer


class Sse(NamedTuple):
    """One server-sent event. OpenAI's have no name on their line, or repeat their type there."""

    data: Json | str
    name: str = ""

    def encode(self) -> bytes:
        text = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return (
            f"event: {self.name}\n" if self.name else ""
        ).encode() + f"data: {text}\n\n".encode()


class Dialect:
    """`id` is new with every answer."""

    def parts(self, body: Json) -> list[Part]:
        raise NotImplementedError

    def begin(self, id: str) -> Iterator[Sse]:
        raise NotImplementedError

    def text(self, id: str, text: str) -> Iterator[Sse]:
        """One chunk of the answer's text."""
        raise NotImplementedError

    def end(self, id: str, text: str) -> Iterator[Sse]:
        """The end of an answer that said `text`."""
        raise NotImplementedError

    def run(self, id: str, command: str) -> Iterator[Sse]:
        """A call of the shell tool and the end of the answer."""
        raise NotImplementedError

    def whole(self, id: str, text: str) -> Json:
        """An answer that was asked for in one piece."""
        raise NotImplementedError

    def error(self, status: int) -> Json:
        return {"error": {"type": "scripted", "code": "scripted", "message": f"scripted {status}"}}


class Messages(Dialect):
    """Anthropic's; spoken by claude."""

    usage: ClassVar[Json] = {"input_tokens": USED, "output_tokens": WRITTEN}

    def parts(self, body: Json) -> list[Part]:
        found: list[Part] = []
        for message in body.get("messages", []):
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            found += [self._part(message["role"], block) for block in blocks]
        return found

    def _part(self, role: str, block: Json) -> Part:
        match block:
            case {"type": "text", "text": str(text)}:
                return Part("user" if role == "user" else "model", text)
            case {"type": "tool_result"}:
                return Part("result", _flat(block.get("content", "")))
        return Part("call", json.dumps(block))

    def _message(self, id: str, content: list[Json]) -> Json:
        about = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": "scripted"}
        return about | {
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self.usage,
        }

    def _event(self, kind: str, **fields: Any) -> Sse:
        return Sse({"type": kind, **fields}, kind)

    def begin(self, id: str) -> Iterator[Sse]:
        yield self._event("message_start", message=self._message(id, []))
        empty = {"type": "text", "text": ""}
        yield self._event("content_block_start", index=0, content_block=empty)

    def text(self, id: str, text: str) -> Iterator[Sse]:
        delta = {"type": "text_delta", "text": text}
        yield self._event("content_block_delta", index=0, delta=delta)

    def end(self, id: str, text: str, reason: str = "end_turn") -> Iterator[Sse]:
        yield self._event("content_block_stop", index=0)
        yield from self._last(reason)

    def _last(self, reason: str) -> Iterator[Sse]:
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield self._event("message_delta", delta=delta, usage=self.usage)
        yield self._event("message_stop")

    def run(self, id: str, command: str) -> Iterator[Sse]:
        yield self._event("message_start", message=self._message(id, []))
        call = {"type": "tool_use", "id": f"toolu_{id}", "name": "Bash", "input": {}}
        yield self._event("content_block_start", index=0, content_block=call)
        given = json.dumps({"command": command, "description": "Scripted"})
        delta = {"type": "input_json_delta", "partial_json": given}
        yield self._event("content_block_delta", index=0, delta=delta)
        yield self._event("content_block_stop", index=0)
        yield from self._last("tool_use")

    def whole(self, id: str, text: str) -> Json:
        message = self._message(id, [{"type": "text", "text": text}])
        return message | {"stop_reason": "end_turn"}

    def error(self, status: int) -> Json:
        kinds = {401: "authentication_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": f"scripted {status}"}}


class Chat(Dialect):
    """OpenAI's chat completions; spoken by opencode and by most others."""

    usage: ClassVar[Json] = {
        "prompt_tokens": USED,
        "completion_tokens": WRITTEN,
        "total_tokens": USED + WRITTEN,
    }

    def parts(self, body: Json) -> list[Part]:
        roles = {"user": "user", "tool": "result", "assistant": "model"}
        return [
            Part(roles.get(message["role"], "system"), _flat(message.get("content") or ""))
            for message in body.get("messages", [])
        ]

    def _chunk(self, id: str, delta: Json, reason: str | None = None) -> Sse:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        about = {"id": f"chatcmpl-{id}", "object": "chat.completion.chunk", "model": "scripted"}
        return Sse(about | {"created": 0, "choices": [choice]})

    def begin(self, id: str) -> Iterator[Sse]:
        yield self._chunk(id, {"role": "assistant", "content": ""})

    def text(self, id: str, text: str) -> Iterator[Sse]:
        yield self._chunk(id, {"content": text})

    def end(self, id: str, text: str, reason: str = "stop") -> Iterator[Sse]:
        last = self._chunk(id, {}, reason)
        assert isinstance(last.data, dict)
        yield Sse(last.data | {"usage": self.usage})
        yield Sse("[DONE]")

    def run(self, id: str, command: str) -> Iterator[Sse]:
        given = json.dumps({"command": command, "description": "Scripted"})
        call = {"index": 0, "id": f"call_{id}", "type": "function"}
        call["function"] = {"name": "bash", "arguments": given}
        yield self._chunk(id, {"role": "assistant", "content": None, "tool_calls": [call]})
        yield from self.end(id, "", "tool_calls")

    def whole(self, id: str, text: str) -> Json:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        about = {"id": f"chatcmpl-{id}", "object": "chat.completion", "model": "scripted"}
        return about | {"created": 0, "choices": [choice], "usage": self.usage}


class Responses(Dialect):
    """OpenAI's responses; spoken by codex."""

    usage: ClassVar[Json] = {
        "input_tokens": USED,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": WRITTEN,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": USED + WRITTEN,
    }

    def parts(self, body: Json) -> list[Part]:
        given = body.get("input", [])
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return [self._part(item) for item in items]

    def _part(self, item: Json) -> Part:
        match item:
            case {"role": "user"}:
                return Part("user", _flat(item["content"]))
            case {"role": "assistant"}:
                return Part("model", _flat(item["content"]))
            case {"type": "function_call_output" | "custom_tool_call_output"}:
                return Part("result", _flat(item.get("output", "")))
        return Part("call", json.dumps(item))

    def _event(self, kind: str, **fields: Any) -> Sse:
        return Sse({"type": kind, **fields}, kind)

    def _said(self, id: str, text: str) -> Json:
        content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        about = {"type": "message", "id": f"msg_{id}", "role": "assistant"}
        return about | {"status": "completed" if text else "in_progress", "content": content}

    def begin(self, id: str) -> Iterator[Sse]:
        yield self._event("response.created", response={"id": f"resp_{id}"})
        item = self._said(id, "")
        yield self._event("response.output_item.added", output_index=0, item=item)

    def text(self, id: str, text: str) -> Iterator[Sse]:
        place = {"item_id": f"msg_{id}", "output_index": 0, "content_index": 0}
        yield self._event("response.output_text.delta", **place, delta=text)

    def end(self, id: str, text: str) -> Iterator[Sse]:
        yield from self._finish(id, self._said(id, text))

    def _finish(self, id: str, item: Json) -> Iterator[Sse]:
        yield self._event("response.output_item.done", output_index=0, item=item)
        response = {"id": f"resp_{id}", "status": "completed", "output": [item]}
        yield self._event("response.completed", response=response | {"usage": self.usage})

    def run(self, id: str, command: str) -> Iterator[Sse]:
        yield self._event("response.created", response={"id": f"resp_{id}"})
        # Only what wants to leave the sandbox is asked about.
        outside = {"sandbox_permissions": "require_escalated", "justification": "Scripted"}
        call = {"type": "function_call", "id": f"fc_{id}", "call_id": f"call_{id}"}
        call |= {"name": "exec_command", "arguments": json.dumps({"cmd": command, **outside})}
        yield from self._finish(id, call)

    def whole(self, id: str, text: str) -> Json:
        said = self._said(id, text)
        about = {"id": f"resp_{id}", "object": "response", "status": "completed"}
        return about | {"output": [said], "usage": self.usage}


def _flat(content: object) -> str:
    """The text of a message, whose content may be a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(_flat, content))
    return _flat(content.get("text", "")) if isinstance(content, dict) else ""


DIALECTS: dict[str, Dialect] = {
    "/v1/messages": Messages(),
    "/v1/chat/completions": Chat(),
    "/v1/responses": Responses(),
}
"""By the path of a request."""
