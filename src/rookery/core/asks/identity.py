"""Whether two asks are about the same: a digest of what is asked, which can be compared after the
agent, the worker and the machine were gone."""

import json
from collections.abc import Iterable

from rookery.core.json import Json, dumps, lenient

_CALL = ("kind", "rawInput", "content", "title", "locations")


def known_call(known: Json, call: Json) -> Json:
    """What is known of a call after one more update of it: a few letters for each field, since what
    a call reads may be large."""
    found = {key: _short(key, call[key]) for key in _CALL if call.get(key)}
    return known | found


def _short(key: str, value: object) -> str:
    if key == "content" and isinstance(value, list):
        value = [_lasting(part) for part in value]
    return digest_of(value)


def _lasting(part: object) -> object:
    """Without what is another one each time."""
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key not in ("terminalId", "_meta")}


def digest(ask: Json, known: Json | None = None, others: Iterable[Json] = ()) -> str:
    """What is asked, in a few letters. `known`: of the call, from before; `others`: the calls that
    are announced and not over. They count where the ask itself says too little: some agents ask
    under another id about what they have just announced."""
    if ask.get("kind") == "question":
        link = [ask["url"]] if ask.get("url") else []  # with another address it is another ask
        return digest_of(["question", ask.get("message"), ask.get("schema"), *link])
    call = known_call(known or {}, lenient.mapping(ask, "toolCall"))
    essence = _essence(call)
    if not call.get("rawInput"):
        essence += [_essence(other) for other in others]
    return digest_of(["permission", *essence])


def _essence(call: Json) -> list[object]:
    """Its title says how it is called, not what it does: it counts where nothing else does."""
    given = call.get("rawInput")
    words = [] if given else [call.get("title"), call.get("locations")]
    return [call.get("kind"), given, call.get("content"), words]


def digest_of(value: object) -> str:
    """A value in a few letters."""
    try:
        text = json.dumps(value, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        text = dumps(value)
    from hashlib import sha256  # 4 ms to load: not before the first screen

    return sha256(text.encode()).hexdigest()[:32]
