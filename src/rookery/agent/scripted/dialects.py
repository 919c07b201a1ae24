"""The interface that every API of the scripted model implements, and OpenAI's two: chat completions
and responses."""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, override

from rookery.agent.scripted import strict
from rookery.agent.scripted.conversation import ChatMessage, Conversation, Json, flat, objects
from rookery.agent.scripted.script import MISSING, Call, Failure, Turn

ARGUMENTS_PIECE = 24  # characters of a call's arguments, where the script does not say


def sse(data: Json | str, name: str = "") -> bytes:
    """Encode one server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def event(kind: str, **fields: Any) -> bytes:
    """Encode one server-sent event whose body repeats its type."""
    return sse({"type": kind, **fields}, kind)


def cut(text: str, chunks: int, piece: int = 0) -> list[str]:
    """Split a text into this many chunks; 0: by words, or into pieces of a length."""
    if not text:
        return []
    if not chunks and not piece:
        return re.findall(r"\S+\s*|\s+", text)
    size = piece if not chunks else max(1, -(-len(text) // chunks))
    return [text[at : at + size] for at in range(0, len(text), size)]


def error_body(failure: Failure) -> Json:
    error = {"message": failure.message, "type": failure.type, "param": None, "code": failure.code}
    return {"error": error}


def loaded(arguments: str) -> Json:
    """Parse a call's arguments for an API that wants an object."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def replaced(usage: Json, counts: object) -> Json:
    return {
        name: replaced(value, counts) if isinstance(value, dict) else counts
        for name, value in usage.items()
    }


class Dialect(ABC):
    """A request of an API, and its answer there. `turn` is set once it is chosen."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.model = str(body.get("model", ""))
        self.stream = body.get("stream") is True
        self.turn = Turn()
        self.id = os.urandom(6).hex()

    @abstractmethod
    def read(self) -> Conversation: ...

    @abstractmethod
    def check(self) -> None:
        """Check the history. Raises strict.Broken if it breaks a rule of the API's."""

    def objection(self) -> Failure | None:
        """Return why a strict provider refuses the history; None if it does not."""
        try:
            self.check()
        except strict.Broken as broken:
            return Failure(400, str(broken), "invalid_request_error", None)
        return None

    def failed(self, failure: Failure) -> Json:
        """Return the body of an answer with an HTTP error."""
        return error_body(failure)

    def broken(self, failure: Failure) -> bytes:
        """Return the last event of a stream that fails midway."""
        return sse(self.failed(failure))

    def begin(self) -> bytes:
        """Return the beginning of a stream, before the first piece."""
        return b""

    @abstractmethod
    def pieces(self) -> Iterator[bytes]: ...

    @abstractmethod
    def end(self) -> bytes: ...

    @abstractmethod
    def whole(self) -> Json:
        """Return the answer if it is not streamed."""

    def counted(self, name: str, usage: Json) -> Json:
        """Return the usage under its name, with the turn's own values in place of its numbers."""
        counts = self.turn.counts
        if counts == MISSING:
            return {}
        return {name: usage if counts is None else replaced(usage, counts)}

    def calls(self) -> list[tuple[str, Call]]:
        """Return the calls, each with its id."""
        named = enumerate(self.turn.calls)
        return [(call.id or f"call_{self.id}_{number}", call) for number, call in named]


class Chat(Dialect):
    """Chat completions, which nearly every provider speaks."""

    @override
    def read(self) -> Conversation:
        roles = {"user": "user", "tool": "result", "function": "result", "assistant": "model"}
        history = [
            ChatMessage(roles.get(str(message.get("role")), "system"), flat(message.get("content")))
            for message in objects(self.body.get("messages"))
        ]
        tools = [tool.get("function") for tool in objects(self.body.get("tools"))]
        return Conversation(history, [tool if isinstance(tool, dict) else {} for tool in tools])

    @override
    def check(self) -> None:
        strict.chat(objects(self.body.get("messages")))

    @override
    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    @override
    def pieces(self) -> Iterator[bytes]:
        turn = self.turn
        texts = {"reasoning_content": turn.thought, "content": turn.text, "refusal": turn.refusal}
        for key, text in texts.items():
            for piece in cut(text, turn.chunks):
                yield self._chunk({key: piece})
        for index, (name, call) in enumerate(self.calls()):
            for key, text in (("reasoning_content", call.thought), ("content", call.text)):
                for piece in cut(text, turn.chunks):
                    yield self._chunk({key: piece})
            begun = {"id": name, "type": "function", "function": _function(call, "")}
            yield self._chunk({"tool_calls": [{"index": index, **begun}]})
            for piece in cut(call.arguments, turn.chunks, ARGUMENTS_PIECE):
                more = {"index": index, "function": {"arguments": piece}}
                yield self._chunk({"tool_calls": [more]})

    @override
    def end(self) -> bytes:
        last = self._chunk({}, self._finish())
        options = self.body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            last += sse({**self._about("chat.completion.chunk"), "choices": [], **self._usage()})
        return last + sse("[DONE]")

    @override
    def whole(self) -> Json:
        turn = self.turn
        calls = [
            {"id": name, "type": "function", "function": _function(call, call.arguments)}
            for name, call in self.calls()
        ]
        thought = turn.thought + "".join(call.thought for call in turn.calls)
        text = turn.text + "".join(call.text for call in turn.calls)
        more = {"reasoning_content": thought, "refusal": turn.refusal, "tool_calls": calls}
        message: Json = {"role": "assistant", "content": text or None}
        message |= {key: value for key, value in more.items() if value}
        choice = {"index": 0, "message": message, "finish_reason": self._finish()}
        return {**self._about("chat.completion"), "choices": [choice], **self._usage()}

    def _finish(self) -> str:
        return self.turn.finish or ("tool_calls" if self.turn.calls else "stop")

    def _chunk(self, delta: Json, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return sse({**self._about("chat.completion.chunk"), "choices": [choice]})

    def _about(self, kind: str) -> Json:
        model = self.body.get("model", "scripted")
        return {"id": f"chatcmpl-{self.id}", "object": kind, "created": 0, "model": model}

    def _usage(self) -> Json:
        usage = self.turn.usage
        counts = {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
            **({} if usage.cost is None else {"cost": usage.cost}),
        }
        return self.counted("usage", counts)


def _function(call: Call, arguments: str) -> Json:
    return {"name": call.name, "arguments": arguments}


CUT_SHORT = {"length": "max_output_tokens", "content_filter": "content_filter"}


def seal(id: str) -> str:
    """Return a stand-in for encrypted thoughts; it has to come back unchanged."""
    return f"sealed-{id}"


class Responses(Dialect):
    """OpenAI's Responses API, for its newer models."""

    @override
    def read(self) -> Conversation:
        given = self.body.get("input", [])
        items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
        history: list[ChatMessage] = []
        for item in items:
            texts = flat(item.get("content"))
            match item:
                case {"role": "user"}:
                    history.append(ChatMessage("user", texts))
                case {"role": "assistant"} | {"type": "function_call"}:
                    # One answer may be several items: a message and its calls.
                    before = history.pop().texts if history and history[-1].role == "model" else ()
                    history.append(ChatMessage("model", (*before, *texts)))
                case {"type": "function_call_output"}:
                    history.append(ChatMessage("result", flat(item.get("output"))))
                case {"type": "reasoning"}:
                    pass
                case _:
                    history.append(ChatMessage("system", texts))
        return Conversation(history, objects(self.body.get("tools")))

    @override
    def check(self) -> None:
        items = objects(self.body.get("input"))
        for item in items:
            sealed = item.get("encrypted_content")
            if item.get("type") == "reasoning" and sealed != seal(str(item.get("id"))):
                message = f"The encrypted content for item {item.get('id')} could not be verified."
                raise strict.Broken(message)
        strict.responses(items)

    @override
    def broken(self, failure: Failure) -> bytes:
        return event("error", code=failure.code, message=failure.message, param=None)

    @override
    def begin(self) -> bytes:
        return event("response.created", response=self._response("in_progress", []))

    @override
    def pieces(self) -> Iterator[bytes]:
        for index, item in enumerate(self._items()):
            place = {"item_id": item["id"], "output_index": index}
            first, length, more = b"", 0, dict[str, Any]()
            match item:
                case {"summary": [{"text": text}]}:
                    kind, empty, more = "reasoning_summary_text", "summary", {"summary_index": 0}
                case {"content": [{"type": kind} as part]}:
                    empty, more = "content", {"content_index": 0}
                    text = part["text" if kind == "output_text" else kind]
                    part = {key: "" if value == text else value for key, value in part.items()}
                    first = event("response.content_part.added", **place, **more, part=part)
                    more |= {"logprobs": []} if kind == "output_text" else {}
                case _:
                    kind, empty = "function_call_arguments", "arguments"
                    text, length = item["arguments"], ARGUMENTS_PIECE
            begun = {**item, "status": "in_progress", empty: "" if length else []}
            first = event("response.output_item.added", output_index=index, item=begun) + first
            for piece in cut(text, self.turn.chunks, length) or [""]:
                yield first + event(f"response.{kind}.delta", **place, **more, delta=piece)
                first = b""
            if length:
                yield event(f"response.{kind}.done", **place, arguments=text)
            yield event("response.output_item.done", output_index=index, item=item)

    @override
    def end(self) -> bytes:
        kind = "incomplete" if self.turn.finish in CUT_SHORT else "completed"
        return event(f"response.{kind}", response=self.whole())

    @override
    def whole(self) -> Json:
        if why := CUT_SHORT.get(self.turn.finish):
            reason = {"incomplete_details": {"reason": why}}
            return self._response("incomplete", self._items()) | reason
        return self._response("completed", self._items())

    def _items(self) -> list[Json]:
        turn, items = self.turn, self._speech(self.turn.text, self.turn.thought, "")
        if turn.refusal and not turn.text:
            items.append(self._message({"type": "refusal", "refusal": turn.refusal}, ""))
        for number, (name, call) in enumerate(self.calls()):
            items += self._speech(call.text, call.thought, f"_{number}")
            about = {"type": "function_call", "id": f"fc_{self.id}_{number}", "call_id": name}
            details = {**_function(call, call.arguments), "status": "completed"}
            details |= {"namespace": call.namespace} if call.namespace else {}
            items.append({**about, **details})
        return items

    def _speech(self, text: str, thought: str, place: str) -> list[Json]:
        items = list[Json]()
        if thought:
            name = f"rs_{self.id}{place}"
            summary = [{"type": "summary_text", "text": thought}]
            about = {"type": "reasoning", "id": name, "summary": summary}
            items.append({**about, "encrypted_content": seal(name)})
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            items.append(self._message(part, place))
        return items

    def _message(self, part: Json, place: str) -> Json:
        about = {"type": "message", "id": f"msg_{self.id}{place}", "role": "assistant"}
        return {**about, "status": "completed", "content": [part]}

    def _response(self, status: str, output: list[Json]) -> Json:
        usage = self.turn.usage
        counts = {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
            **({} if usage.cost is None else {"cost": usage.cost}),
        }
        about: Json = {"id": f"resp_{self.id}", "object": "response", "created_at": 0}
        about |= {"status": status, "model": self.body.get("model", "scripted"), "output": output}
        about |= dict.fromkeys(("error", "incomplete_details", "instructions"))
        usual = {"metadata": {}, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        usual |= {"temperature": 1.0, "top_p": 1.0}
        if status == "in_progress":
            return about | usual | {"usage": None}
        return about | usual | self.counted("usage", counts)
