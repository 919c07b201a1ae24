"""A request as the script sees it, whatever its API: who said what, and which tools there are."""

from typing import Any, NamedTuple

type Json = dict[str, Any]


class Said(NamedTuple):
    role: str
    """system, user, model or result."""
    texts: tuple[str, ...]
    """One for each block."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


class Conversation(NamedTuple):
    said: tuple[Said, ...]
    tools: tuple[Json, ...]
    """Each with name and parameters."""
    model: str
    stream: bool

    def last(self, role: str) -> str:
        return next((each.text for each in reversed(self.said) if each.role == role), "")

    def answers_since(self, place: int) -> int:
        """The number of the model's answers after a place."""
        return sum(each.role == "model" for each in self.said[place:])

    def takes(self, tool: str, argument: str) -> bool:
        """Whether a tool of that name has that argument."""
        for each in self.tools:
            if each.get("name") == tool:
                properties = (each.get("parameters") or {}).get("properties") or {}
                return argument in properties
        return False

    def offers(self, tool: str) -> bool:
        return any(each.get("name") == tool for each in self.tools)


def of_chat(body: Json) -> Conversation:
    """OpenAI's chat completions."""
    roles = {"user": "user", "tool": "result", "function": "result", "assistant": "model"}
    said = [
        Said(roles.get(str(message.get("role")), "system"), flat(message.get("content")))
        for message in objects(body.get("messages"))
    ]
    tools = [_object(tool.get("function")) for tool in objects(body.get("tools"))]
    return _conversation(body, said, tools)


def of_responses(body: Json) -> Conversation:
    """OpenAI's responses."""
    given = body.get("input", [])
    items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
    said: list[Said] = []
    for item in items:
        match item:
            case {"role": "user"}:
                said.append(Said("user", flat(item.get("content"))))
            case {"role": "assistant"} | {"type": "function_call"}:
                # One answer may be several items: a message and its calls.
                if not said or said[-1].role != "model":
                    said.append(Said("model", ()))
                said[-1] = Said("model", (*said[-1].texts, *flat(item.get("content"))))
            case {"type": "function_call_output"}:
                said.append(Said("result", flat(item.get("output"))))
            case {"type": "reasoning"}:
                pass
            case _:
                said.append(Said("system", flat(item.get("content"))))
    return _conversation(body, said, objects(body.get("tools")))


def _conversation(body: Json, said: list[Said], tools: list[Json]) -> Conversation:
    stream = body.get("stream") is True
    return Conversation(tuple(said), tuple(tools), str(body.get("model", "")), stream)


def flat(content: object) -> tuple[str, ...]:
    """The texts of a content: a text, or blocks."""
    match content:
        case str():
            return (content,)
        case list():
            return tuple(text for block in content for text in flat(block))
        case {"text": text}:
            return flat(text)
    return ()


def objects(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
