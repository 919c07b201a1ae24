"""A request as the script sees it, whatever its API: the messages with their roles, and the
tools."""

from typing import Any, NamedTuple

type Json = dict[str, Any]


class ChatMessage(NamedTuple):
    role: str
    """system, user, model or result."""
    texts: tuple[str, ...]
    """One for each block."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


class Conversation(NamedTuple):
    messages: list[ChatMessage]
    tools: list[Json]
    """Each with name and parameters."""

    def last(self, role: str) -> str:
        return next((each.text for each in reversed(self.messages) if each.role == role), "")

    def prompts(self) -> list[tuple[int, ChatMessage]]:
        """Return the user's messages, each with its place, the latest first."""
        return [(at, each) for at, each in enumerate(self.messages) if each.role == "user"][::-1]

    def answers_since(self, place: int) -> int:
        """Return the number of the model's answers after a place."""
        return sum(each.role == "model" for each in self.messages[place:])

    def takes(self, tool: str, argument: str) -> bool:
        """Tell whether a tool of that name has that argument."""
        definition = next((each for each in self.tools if each.get("name") == tool), {})
        return argument in ((definition.get("parameters") or {}).get("properties") or {})

    def offers(self, tool: str) -> bool:
        return any(each.get("name") == tool for each in self.tools)


def flat(content: object) -> tuple[str, ...]:
    """Return the texts of a content: a text, or blocks."""
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
