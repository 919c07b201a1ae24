"""Whether two asks are the same: a digest of what is asked, which can be compared even after the
agent, the worker or the machine was restarted."""

import json
from collections.abc import Iterable

from rookery.core.ask import Ask
from rookery.core.json import Json, dumps

_CALL = ("kind", "rawInput", "content", "title", "locations")


def known_call(known: Json, call: Json) -> Json:
    """Return what is known of a call after one more update of it. Each field is a short digest,
    since what a call reads may be large."""
    digests = {key: _short(key, call[key]) for key in _CALL if call.get(key)}
    return known | digests


def _short(key: str, value: object) -> str:
    if key == "content" and isinstance(value, list):
        value = [_lasting(part) for part in value]
    return digest_of(value)


def _lasting(part: object) -> object:
    """Return a content part without the fields that differ each time."""
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key not in ("terminalId", "_meta")}


def digest(ask: Ask, known: Json | None = None, others: Iterable[Json] = ()) -> str:
    """Return a short digest of what is asked. `known`: of the call, from earlier updates; `others`:
    the calls that are announced and not over. They count if the ask itself says too little: some
    agents ask under another id about what they have just announced."""
    if ask.is_question:
        link = [ask.url] if ask.is_link else []  # with another address it is another ask
        return digest_of(["question", ask.message, ask.schema, *link])
    call = known_call(known or {}, ask.call)
    essence = _essence(call)
    if not call.get("rawInput"):
        essence += [_essence(other) for other in others]
    return digest_of(["permission", *essence])


def _essence(call: Json) -> list[object]:
    """Return what identifies a call. Its title says what it is called, not what it does, so it
    counts only if there is no input."""
    given = call.get("rawInput")
    fallback = [] if given else [call.get("title"), call.get("locations")]
    return [call.get("kind"), given, call.get("content"), fallback]


def digest_of(value: object) -> str:
    """Return a short digest of a value."""
    try:
        text = json.dumps(value, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        text = dumps(value)
    from hashlib import sha256  # 4 ms to load: not before the first screen

    return sha256(text.encode()).hexdigest()[:32]
