"""The changes that a tool call makes to files: those it shows, and those that only its input or its
result states."""

from rookery.core.blocks import parts
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.tools.calls import key_of

_PATH = ("path", "file_path", "filePath", "abs_path")
_OLD = ("old_string", "old_str", "oldString", "oldText")
_NEW = ("new_string", "new_str", "newString", "newText")


def diffs(call: Json) -> list[Json]:
    """The changes that a call shows, each whole but for the equal ends of the file."""
    found = []
    base = {"call": key_of(call), "kind": lenient.text(call, "kind", "other")[:40]}
    for part in lenient.mappings(call, "content"):
        if lenient.text(part, "type") == "diff" and isinstance(part.get("newText"), str):
            old = part.get("oldText")
            made = parts.diff(
                lenient.text(part, "path"), old if isinstance(old, str) else None, part["newText"]
            )
            del made["type"]
            found.append({"what": "diff", **base, **made})
    return found


def stated(call: Json) -> list[parts.Part]:
    """As the parts of a block; empty where the call states none, or shows one itself. OpenHands has
    both texts of the file in what it observed, swival the two strings in its input."""
    if any(lenient.text(each, "type") == "diff" for each in lenient.mappings(call, "content")):
        return []
    made = _observed(call) or _given(call)
    return parts.fit([made]) if made else []


def _observed(call: Json) -> parts.Part | None:
    seen = lenient.mapping(lenient.mapping(call, "rawOutput"), "observation")
    old, new = seen.get("old_content"), seen.get("new_content")
    path = lenient.text(seen, "path")
    if not path or not isinstance(new, str) or old == new:
        return None
    return parts.diff(path, old if isinstance(old, str) else None, new)


def _given(call: Json) -> parts.Part | None:
    given = lenient.mapping(call, "rawInput")
    path, old, new = (_first(given, names) for names in (_PATH, _OLD, _NEW))
    if not path or old is None or new is None or old == new:
        return None
    return parts.diff(path, old, new)


def _first(given: Json, names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)
