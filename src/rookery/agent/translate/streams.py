"""An answer while it streams: tracks what was sent of it, so that the event after it repeats
nothing."""

from dataclasses import dataclass, field
from typing import Any

from rookery.agent.translate.arguments import Arguments
from rookery.models.secrets import KNOWN, Pieces


@dataclass
class StreamedCall:
    id: str = ""
    name: str = ""
    arguments: Arguments = field(default_factory=Arguments)
    raw: str = ""
    """Arguments that were not read yet."""
    text: str = ""
    """The words of a tool that is a way of speaking."""


class Stream:
    """The part of one answer that was sent. `response`: its id."""

    def __init__(self, response: str = "") -> None:
        self.response = response
        self.text = ""
        self.thought = ""
        self.calls: dict[int, StreamedCall] = {}
        self.is_whole = False
        """Its event has come: it cannot become void."""
        self._text_mask = KNOWN.in_pieces()
        self._thought_mask = KNOWN.in_pieces()

    def say(self, piece: str) -> str:
        """Return what can be sent now, without what may be the beginning of a secret."""
        shown, passed = _pass(self._text_mask, piece)
        self.text += passed
        return shown

    def think(self, piece: str) -> str:
        shown, passed = _pass(self._thought_mask, piece)
        self.thought += passed
        return shown

    def call(self, fragment: Any) -> StreamedCall:
        """Return the call that a fragment belongs to, with the fragment added."""
        place = getattr(fragment, "index", None)
        number = place if isinstance(place, int) else len(self.calls) - 1
        call = self.calls.setdefault(max(0, number), StreamedCall())
        function = getattr(fragment, "function", None)
        call.id = call.id or text_in(fragment, "id")
        call.name = call.name or text_in(function, "name")
        call.raw += text_in(function, "arguments")
        return call

    def said_by(self, name: str, call_id: str) -> str:
        return next(
            (call.text for call in self.calls.values() if (call.name, call.id) == (name, call_id)),
            "",
        )


def rest_of(whole: str, sent: str) -> str:
    """Return the unsent part of a text; "" if it differs from what was sent: masked, trimmed."""
    if not sent:
        return whole
    return whole[len(sent) :] if whole.startswith(sent) else ""


def pieces(chunk: Any) -> list[tuple[str, Any]]:
    """Return ("thought" | "text" | "call", piece) for each part of a chunk, in order."""
    if isinstance(chunk, str):
        return [("text", chunk)] if chunk else []
    parts: list[tuple[str, Any]] = []
    for _, delta in deltas(chunk):
        # The Responses API sends summaries of reasoning as text, known by the item's id.
        kind = "thought" if text_in(chunk, "id").startswith("rs_") else "text"
        if reasoning := text_in(delta, "reasoning_content"):
            parts.append(("thought", reasoning))
        if text := text_in(delta, "content"):
            parts.append((kind, text))
        parts += [("call", call) for call in getattr(delta, "tool_calls", None) or []]
    return parts


def deltas(chunk: Any) -> list[tuple[Any, Any]]:
    """Return each choice of a chunk that has a delta, and the delta."""
    choices = getattr(chunk, "choices", None) or []
    pairs = [(choice, getattr(choice, "delta", None)) for choice in choices]
    return [each for each in pairs if each[1] is not None]


def _pass(mask: Pieces, piece: str) -> tuple[str, str]:
    """Return the text to show, and the original text it stands for."""
    whole = mask.held + piece
    shown = mask.feed(piece)
    return shown, whole.removesuffix(mask.held)


def text_in(thing: Any, name: str) -> str:
    """Return a text field of an object or a dictionary; "" if it is none."""
    value = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
    return value if isinstance(value, str) else ""
