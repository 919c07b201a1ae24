"""Gemini's own API for the scripted model: the model and streaming are in the request's path, calls
have no ids, and the first call carries the signature of the thought before it."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, override

from rookery.agent.scripted import strict
from rookery.agent.scripted.conversation import ChatMessage, Conversation, Json, flat, objects
from rookery.agent.scripted.dialects import Dialect, cut, loaded, sse
from rookery.agent.scripted.script import Failure

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


class Gemini(Dialect):
    def __init__(self, body: Json, model: str, method: str) -> None:
        super().__init__(body)
        self.model, self.stream = model, method == "streamGenerateContent"

    @override
    def read(self) -> Conversation:
        system = _either(self.body, "systemInstruction", "system_instruction")
        history = [ChatMessage("system", _texts(system))] if isinstance(system, dict) else []
        for content in objects(self.body.get("contents")):
            if content.get("role") == "model":
                history.append(ChatMessage("model", _texts(content)))
                continue
            parts = objects(content.get("parts"))
            answers = [_either(part, "functionResponse", "function_response") for part in parts]
            history += [
                ChatMessage("result", (str(each.get("response")),)) for each in answers if each
            ]
            if texts := _texts(content):
                history.append(ChatMessage("user", texts))
        tools: list[Json] = []
        for group in objects(self.body.get("tools")):
            tools += objects(_either(group, "functionDeclarations", "function_declarations"))
        return Conversation(history, tools)

    @override
    def check(self) -> None:
        strict.gemini(objects(self.body.get("contents")))

    @override
    def failed(self, failure: Failure) -> Json:
        status = ERRORS.get(failure.status, "UNKNOWN")
        return {"error": {"code": failure.status, "message": failure.message, "status": status}}

    @override
    def pieces(self) -> Iterator[bytes]:
        for part in self._parts():
            chunks = cut(part.get("text", ""), self.turn.chunks)
            for piece in [{**part, "text": word} for word in chunks] or [part]:
                yield sse(self._answer([piece]))

    @override
    def end(self) -> bytes:
        return sse(self._answer([{"text": ""}], self._stop()))

    @override
    def whole(self) -> Json:
        return self._answer(self._parts(), self._stop())

    def _parts(self) -> list[Json]:
        turn = self.turn
        parts = _speech(turn.text or turn.refusal, turn.thought)
        for number, call in enumerate(turn.calls):
            parts += _speech(call.text, call.thought)
            part: Json = {"functionCall": {"name": call.name, "args": loaded(call.arguments)}}
            if thought := call.thought or ("" if number else turn.thought):
                digest = hashlib.sha256(thought.encode("utf-8", "replace")).digest()
                part["thoughtSignature"] = base64.b64encode(digest).decode()
            parts.append(part)
        return parts

    def _answer(self, parts: list[Json], stop: str = "") -> Json:
        candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
        usage = self.turn.usage
        counts = {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        }
        answer = {
            "candidates": [candidate | ({"finishReason": stop} if stop else {})],
            **self.counted("usageMetadata", counts),
            "modelVersion": self.model,
        }
        return answer | ({} if self.turn.anonymous else {"responseId": f"gem-{self.id}"})

    def _stop(self) -> str:
        if self.turn.refusal:
            return STOPS["refusal"]
        return STOPS.get(self.turn.finish, self.turn.finish) or "STOP"


def _either(thing: Json, *names: str) -> Any:
    """Return a field under any of its names; None if it is not set."""
    return next((thing[name] for name in names if thing.get(name)), None)


def _texts(content: Json) -> tuple[str, ...]:
    return flat([part for part in objects(content.get("parts")) if not part.get("thought")])


def _speech(text: str, thought: str) -> list[Json]:
    parts: list[Json] = [{"text": thought, "thought": True}] if thought else []
    return [*parts, {"text": text}] if text else parts
