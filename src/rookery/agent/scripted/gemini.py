"""Gemini's own API: the model and streaming are in the request's path, calls have no ids, and the
first call carries the signature of the thought before it."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, override

from rookery.agent.scripted.conversation import Conversation, Said, flat, objects
from rookery.agent.scripted.dialects import Dialect, cut, loaded, sse
from rookery.agent.scripted.script import Failure, Turn

type Json = dict[str, Any]

ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
STOPS = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "refusal": "PROHIBITED_CONTENT"}


def signature(turn: Turn) -> str:
    name = hashlib.sha256(turn.thought.encode("utf-8", "replace")).digest()
    return base64.b64encode(name).decode()


class Gemini(Dialect):
    def __init__(self, model: str, *, stream: bool) -> None:
        self.model = model
        self.stream = stream

    @override
    def read(self, body: Json) -> Conversation:
        system = body.get("systemInstruction") or body.get("system_instruction")
        said = [Said("system", _texts(system))] if isinstance(system, dict) else []
        for content in objects(body.get("contents")):
            parts = objects(content.get("parts"))
            if content.get("role") == "model":
                said.append(Said("model", _texts(content)))
                continue
            answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
            answers += [part["function_response"] for part in parts if "function_response" in part]
            said += [Said("result", (str(answer.get("response")),)) for answer in answers]
            if words := _texts(content):
                said.append(Said("user", words))
        tools: list[Json] = []
        for group in objects(body.get("tools")):
            named = group.get("functionDeclarations") or group.get("function_declarations")
            tools += objects(named)
        return Conversation(tuple(said), tuple(tools), self.model, self.stream)

    @override
    def failed(self, failure: Failure) -> Json:
        status = ERRORS.get(failure.status, "UNKNOWN")
        error: Json = {"code": failure.status, "message": failure.message, "status": status}
        return {"error": error}

    @override
    def begin(self, id: str, turn: Turn, body: Json) -> bytes:
        return b""

    @override
    def pieces(self, id: str, turn: Turn, body: Json) -> Iterator[bytes]:
        for piece in cut(turn.thought, turn.chunks):
            yield sse(self._answer(id, turn, [{"text": piece, "thought": True}]))
        for piece in cut(turn.text or turn.refusal, turn.chunks):
            yield sse(self._answer(id, turn, [{"text": piece}]))
        for part in self._calls(turn):
            yield sse(self._answer(id, turn, [part]))

    @override
    def end(self, id: str, turn: Turn, body: Json) -> bytes:
        return sse(self._answer(id, turn, [{"text": ""}], _stop(turn)))

    @override
    def whole(self, id: str, turn: Turn, body: Json) -> Json:
        parts: list[Json] = [{"text": turn.thought, "thought": True}] if turn.thought else []
        if turn.text or turn.refusal:
            parts.append({"text": turn.text or turn.refusal})
        return self._answer(id, turn, [*parts, *self._calls(turn)], _stop(turn))

    def _calls(self, turn: Turn) -> list[Json]:
        """The first call has the signature, as in real answers."""
        parts: list[Json] = []
        for number, call in enumerate(turn.calls):
            called = {"functionCall": {"name": call.name, "args": loaded(call.arguments)}}
            signed = {"thoughtSignature": signature(turn)} if not number and turn.thought else {}
            parts.append(called | signed)
        return parts

    def _answer(self, id: str, turn: Turn, parts: list[Json], stop: str = "") -> Json:
        candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
        usage = turn.usage
        told = {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        }
        answer = {
            "candidates": [candidate | ({"finishReason": stop} if stop else {})],
            "usageMetadata": told,
            "modelVersion": self.model,
        }
        return answer | ({} if turn.anonymous else {"responseId": f"gem-{id}"})


def _stop(turn: Turn) -> str:
    return STOPS["refusal"] if turn.refusal else STOPS.get(turn.finish, turn.finish) or "STOP"


def _texts(content: Json) -> tuple[str, ...]:
    parts = objects(content.get("parts"))
    return flat([part for part in parts if not part.get("thought")])
