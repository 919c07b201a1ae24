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
    said: list[Said]
    tools: list[Json]
    """Each with name and parameters."""

    def last(self, role: str) -> str:
        return next((each.text for each in reversed(self.said) if each.role == role), "")

    def prompts(self) -> list[tuple[int, Said]]:
        """The user's words, each with its place, the latest first."""
        return [(at, each) for at, each in enumerate(self.said) if each.role == "user"][::-1]

    def answers_since(self, place: int) -> int:
        """The number of the model's answers after a place."""
        return sum(each.role == "model" for each in self.said[place:])

    def takes(self, tool: str, argument: str) -> bool:
        """Whether a tool of that name has that argument."""
        found = next((each for each in self.tools if each.get("name") == tool), {})
        return argument in ((found.get("parameters") or {}).get("properties") or {})

    def offers(self, tool: str) -> bool:
        return any(each.get("name") == tool for each in self.tools)


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
