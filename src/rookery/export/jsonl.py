"""Exporting a session as its events, one JSON object per line."""

from collections.abc import Iterator

from rookery.core.json import Event, dumps, kind_of, lenient
from rookery.core.json.redact import redact_json, redact_pieces
from rookery.export.turns import events
from rookery.log.reader import Reader

MOST_HELD, LONGEST_HELD = 200, 64 * 1024
"""Events and characters of a text in pieces that wait until they are looked at together."""


def lines(log: Reader, first: int, last: int | None) -> Iterator[str]:
    final = log.turns() if last is None else last
    for event in _redacted(events(log, first, final, log.last_seq())):
        yield dumps(event._asdict()) + "\n"


def _redacted(given: Iterator[Event]) -> Iterator[Event]:
    """Redact secrets, including those that are split across consecutive pieces of a text."""
    held: list[Event] = []
    length = 0
    for event in given:
        text = _text(event)
        if held and (text is None or _stream(event) != _stream(held[-1])):
            yield from _cleaned(held)
            held, length = [], 0
        if text is None:
            yield event._replace(update=redact_json(event.update))
            continue
        held.append(event)
        length += len(text)
        if len(held) >= MOST_HELD or length > LONGEST_HELD:
            keep = _unfinished(held)
            yield from _cleaned(held[: len(held) - keep])
            held = held[len(held) - keep :]
            length = sum(len(_text(each) or "") for each in held)
    yield from _cleaned(held)


def _unfinished(held: list[Event]) -> int:
    """Return how many events at the end may hold the beginning of a secret: those without
    whitespace."""
    for count, event in enumerate(reversed(held)):
        if any(letter.isspace() for letter in _text(event) or ""):
            return count if count < len(held) // 2 else 0
    return 0


def _cleaned(held: list[Event]) -> Iterator[Event]:
    texts = redact_pieces([_text(event) or "" for event in held])
    for event, text in zip(held, texts, strict=True):
        if kind_of(event.update) == "_terminal":
            update = redact_json({**event.update, "text": ""})
            update["text"] = text
        else:
            bare = {**event.update["content"], "text": ""}
            update = redact_json({**event.update, "content": bare})
            update["content"]["text"] = text
        yield event._replace(update=update)


def _text(event: Event) -> str | None:
    """Return the event's text if it is a piece of one that continues in other events; else None."""
    kind = kind_of(event.update)
    if kind == "_terminal" and event.update.get("state") == "output":
        text = event.update.get("text")
        return text if isinstance(text, str) else None
    if not kind.endswith("_chunk"):
        return None
    content = lenient.mapping(event.update, "content")
    return content["text"] if isinstance(content.get("text"), str) else None


def _stream(event: Event) -> tuple[str, str]:
    return kind_of(event.update), lenient.text(event.update, "id")
