"""What every API has to say of an answer, and OpenAI's two: chat completions and responses."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, override

from rookery.agent.scripted import conversation
from rookery.agent.scripted.conversation import Conversation
from rookery.agent.scripted.script import Call, Failure, Turn, Usage

type Json = dict[str, Any]

ARGUMENTS_PIECE = 24  # characters of a call's arguments, where the script does not say


def sse(data: Json | str, name: str = "") -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def cut(text: str, chunks: int, piece: int = 0) -> list[str]:
    """A text in this many chunks; 0: by words, or by pieces of a length."""
    if not text:
        return []
    if not chunks and not piece:
        return re.findall(r"\S+\s*|\s+", text)
    size = piece if not chunks else max(1, -(-len(text) // chunks))
    return [text[at : at + size] for at in range(0, len(text), size)]


def error_body(failure: Failure) -> Json:
    return {
        "error": {
            "message": failure.message,
            "type": failure.type,
            "param": None,
            "code": failure.code,
        }
    }


def call_ids(id: str, calls: Sequence[Call]) -> list[str]:
    return [call.id or f"call_{id}_{number}" for number, call in enumerate(calls)]


def loaded(arguments: str) -> Json:
    """A call's arguments for an API that wants an object."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Dialect(ABC):
    """`id` is new with every answer."""

    @abstractmethod
    def read(self, body: Json) -> Conversation: ...

    def objection(self, body: Json) -> Failure | None:  # noqa: ARG002
        """Why a strict provider refuses a history; None: it does not."""
        return None

    def failed(self, failure: Failure) -> Json:
        """The body of an answer with an HTTP error."""
        return error_body(failure)

    def broken(self, failure: Failure) -> bytes:
        """The last event of a stream that fails midway."""
        return sse(self.failed(failure))

    @abstractmethod
    def begin(self, id: str, turn: Turn, body: Json) -> bytes:
        """What a stream begins with, before the first piece."""

    @abstractmethod
    def pieces(self, id: str, turn: Turn, body: Json) -> Iterator[bytes]: ...

    @abstractmethod
    def end(self, id: str, turn: Turn, body: Json) -> bytes: ...

    @abstractmethod
    def whole(self, id: str, turn: Turn, body: Json) -> Json:
        """The answer if it is not streamed."""


class Chat(Dialect):
    """Chat completions, which nearly every provider speaks."""

    @override
    def read(self, body: Json) -> Conversation:
        return conversation.of_chat(body)

    @override
    def begin(self, id: str, turn: Turn, body: Json) -> bytes:
        return self._chunk(id, body, {"role": "assistant", "content": ""})

    @override
    def pieces(self, id: str, turn: Turn, body: Json) -> Iterator[bytes]:
        for piece in cut(turn.thought, turn.chunks):
            yield self._chunk(id, body, {"reasoning_content": piece})
        for piece in cut(turn.text, turn.chunks):
            yield self._chunk(id, body, {"content": piece})
        for piece in cut(turn.refusal, turn.chunks):
            yield self._chunk(id, body, {"refusal": piece})
        ids = call_ids(id, turn.calls)
        for index, call in enumerate(turn.calls):
            first = {"name": call.name, "arguments": ""}
            begun = {"index": index, "id": ids[index], "type": "function", "function": first}
            yield self._chunk(id, body, {"tool_calls": [begun]})
            for piece in cut(call.arguments, turn.chunks, ARGUMENTS_PIECE):
                more = {"index": index, "function": {"arguments": piece}}
                yield self._chunk(id, body, {"tool_calls": [more]})

    @override
    def end(self, id: str, turn: Turn, body: Json) -> bytes:
        last = self._chunk(id, body, {}, _finish(turn))
        options = body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            about = self._about(id, body, "chat.completion.chunk")
            last += sse({**about, "choices": [], "usage": self._usage(turn.usage)})
        return last + sse("[DONE]")

    @override
    def whole(self, id: str, turn: Turn, body: Json) -> Json:
        message: Json = {"role": "assistant", "content": turn.text or None}
        if turn.thought:
            message["reasoning_content"] = turn.thought
        if turn.refusal:
            message["refusal"] = turn.refusal
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call, call_id in zip(turn.calls, call_ids(id, turn.calls), strict=True)
            ]
        choice = {"index": 0, "message": message, "finish_reason": _finish(turn)}
        about = self._about(id, body, "chat.completion")
        return {**about, "choices": [choice], "usage": self._usage(turn.usage)}

    def _chunk(self, id: str, body: Json, delta: Json, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return sse({**self._about(id, body, "chat.completion.chunk"), "choices": [choice]})

    def _about(self, id: str, body: Json, kind: str) -> Json:
        model = body.get("model", "scripted")
        return {"id": f"chatcmpl-{id}", "object": kind, "created": 0, "model": model}

    def _usage(self, usage: Usage) -> Json:
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
            **({} if usage.cost is None else {"cost": usage.cost}),
        }


def _finish(turn: Turn) -> str:
    return turn.finish or ("tool_calls" if turn.calls else "stop")


CUT_SHORT = {"length": "max_output_tokens", "content_filter": "content_filter"}


def seal(id: str) -> str:
    """Stands for hidden thoughts; it has to come back unchanged."""
    return f"sealed-{id}"


class Responses(Dialect):
    """Responses, for OpenAI's newer models."""

    @override
    def read(self, body: Json) -> Conversation:
        return conversation.of_responses(body)

    @override
    def objection(self, body: Json) -> Failure | None:
        for item in conversation.objects(body.get("input")):
            sealed = item.get("encrypted_content")
            if item.get("type") == "reasoning" and sealed != seal(str(item.get("id"))):
                message = f"The encrypted content for item {item.get('id')} could not be verified."
                return Failure(400, message, "invalid_request_error", "invalid_encrypted_content")
        return None

    @override
    def broken(self, failure: Failure) -> bytes:
        error = self.failed(failure)["error"]
        return self._event("error", code=error["code"], message=error["message"], param=None)

    @override
    def begin(self, id: str, turn: Turn, body: Json) -> bytes:
        response = self._response(id, turn, body, "in_progress", [])
        return self._event("response.created", response=response)

    @override
    def pieces(self, id: str, turn: Turn, body: Json) -> Iterator[bytes]:
        for index, item in enumerate(self._items(id, turn)):
            place = {"item_id": item["id"], "output_index": index}
            empty = {**item, "status": "in_progress"}
            match item["type"]:
                case "reasoning":
                    begun = {**empty, "summary": []}
                    deltas = self._thought(place, turn)
                case "message":
                    begun = {**empty, "content": []}
                    deltas = self._text(place, turn)
                case _:
                    begun = {**empty, "arguments": ""}
                    deltas = self._arguments(place, item["arguments"], turn.chunks)
            added = self._event("response.output_item.added", output_index=index, item=begun)
            for number, delta in enumerate(deltas):
                yield added + delta if number == 0 else delta
            yield self._event("response.output_item.done", output_index=index, item=item)

    def _thought(self, place: Json, turn: Turn) -> Iterator[bytes]:
        for piece in cut(turn.thought, turn.chunks):
            yield self._event(
                "response.reasoning_summary_text.delta", **place, summary_index=0, delta=piece
            )

    def _text(self, place: Json, turn: Turn) -> Iterator[bytes]:
        kind = "refusal" if turn.refusal else "output_text"
        part: Json = {"type": "refusal", "refusal": ""}
        more: Json = {}
        if not turn.refusal:
            part, more = {"type": kind, "text": "", "annotations": []}, {"logprobs": []}
        place = {**place, "content_index": 0}
        begun = self._event("response.content_part.added", **place, part=part)
        for piece in cut(turn.refusal or turn.text, turn.chunks):
            yield begun + self._event(f"response.{kind}.delta", **place, **more, delta=piece)
            begun = b""

    def _arguments(self, place: Json, arguments: str, chunks: int) -> Iterator[bytes]:
        for piece in cut(arguments, chunks, ARGUMENTS_PIECE) or [""]:
            yield self._event("response.function_call_arguments.delta", **place, delta=piece)
        yield self._event("response.function_call_arguments.done", **place, arguments=arguments)

    @override
    def end(self, id: str, turn: Turn, body: Json) -> bytes:
        kind = "response.incomplete" if turn.finish in CUT_SHORT else "response.completed"
        return self._event(kind, response=self.whole(id, turn, body))

    @override
    def whole(self, id: str, turn: Turn, body: Json) -> Json:
        items = self._items(id, turn)
        if why := CUT_SHORT.get(turn.finish):
            cut_short = self._response(id, turn, body, "incomplete", items)
            return cut_short | {"incomplete_details": {"reason": why}}
        return self._response(id, turn, body, "completed", items)

    def _items(self, id: str, turn: Turn) -> list[Json]:
        items: list[Json] = []
        if turn.thought:
            summary = [{"type": "summary_text", "text": turn.thought}]
            about = {"type": "reasoning", "id": f"rs_{id}", "summary": summary}
            items.append({**about, "encrypted_content": seal(f"rs_{id}")})
        if turn.text or turn.refusal:
            content: list[Json] = [
                {"type": "output_text", "text": turn.text, "annotations": []}
                if turn.text
                else {"type": "refusal", "refusal": turn.refusal}
            ]
            about = {"type": "message", "id": f"msg_{id}", "role": "assistant"}
            items.append({**about, "status": "completed", "content": content})
        ids = call_ids(id, turn.calls)
        for number, call in enumerate(turn.calls):
            about = {"type": "function_call", "id": f"fc_{id}_{number}", "call_id": ids[number]}
            said = {"name": call.name, "arguments": call.arguments, "status": "completed"}
            said |= {"namespace": call.namespace} if call.namespace else {}
            items.append({**about, **said})
        return items

    def _response(self, id: str, turn: Turn, body: Json, status: str, output: list[Json]) -> Json:
        usage = {
            "input_tokens": turn.usage.input,
            "input_tokens_details": {"cached_tokens": turn.usage.cached},
            "output_tokens": turn.usage.output,
            "output_tokens_details": {"reasoning_tokens": turn.usage.reasoning},
            "total_tokens": turn.usage.input + turn.usage.output,
            **({} if turn.usage.cost is None else {"cost": turn.usage.cost}),
        }
        return {
            "id": f"resp_{id}",
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": body.get("model", "scripted"),
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage if status != "in_progress" else None,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, kind)
